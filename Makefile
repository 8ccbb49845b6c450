PYTHON ?= python3
BIN := .venv/bin
export HF_HUB_OFFLINE := 1
export OMP_WAIT_POLICY := passive

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-browser pictures test-slow test-ray explore check lint fix ui measure peers mining-peers clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/.ready  ## create .venv with every dependency pinned, and install the project

.venv/.ready: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep -E '^(torch|uv)==' requirements.txt)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --requirements requirements.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

demo: setup  ## import -> mine -> audit -> latency -> export on the shipped traces; ends in report.html
	$(BIN)/forethought demo

test: setup  ## the tests, a process a core, four at most (2 cores: under 15 minutes)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

test-browser: setup  ## the app in a real browser (Debian's package chromium)
	$(BIN)/python -m pytest tests/browser -m "browser and not slow"

pictures: setup  ## docs/images anew, from the store that `make demo` leaves
	$(BIN)/python benchmarks/screenshots.py

test-slow: setup  ## the tests that take minutes
	$(BIN)/python -m pytest -m "slow and not browser"
	$(BIN)/python -m pytest tests/browser -m "slow and browser"

test-ray: .venv-ray/.ready  ## mining with Ray on 2 processors, in .venv-ray (minutes)
	.venv-ray/bin/python -m pytest -m ray

.venv-ray/.ready: .venv/.ready tests/ray-requirements.txt
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check $$(grep -E '^torch==' requirements.txt)
	$(BIN)/uv pip install --quiet --python .venv-ray/bin/python --no-deps --requirements requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-ray/bin/python --no-deps --requirements tests/ray-requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-ray/bin/python --no-deps --editable .
	@touch $@

explore: setup  ## the property tests, on examples drawn anew
	$(BIN)/python -m pytest --hypothesis-profile=explore -m hypothesis

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build/check/forethought  # mypy does not follow the editable install: show it the package by links
	@for folder in data miner scorer ui; do ln -sfn ../../../$$folder build/check/forethought/$$folder; done
	MYPYPATH=build/check $(BIN)/mypy --explicit-package-bases -p forethought

check: lint test  ## lint, format, types, tests

fix: setup  ## repair what the linters can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

ui: setup  ## the curation app on the demo's store
	$(BIN)/forethought ui --store demo-out/forethought.db

measure: setup  ## the full figures of docs/measurements.md (about an hour on 2 cores)
	$(BIN)/python benchmarks/measure.py

peers: .venv-peers/.ready  ## create .venv-peers: this project beside the scorers that it is compared with

.venv-peers/.ready: .venv/.ready benchmarks/peers-requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check $$(grep -E '^torch==' requirements.txt)
	$(BIN)/uv pip install --quiet --python .venv-peers/bin/python --no-deps --requirements requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-peers/bin/python --no-deps --requirements benchmarks/peers-requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-peers/bin/python --no-deps --editable .
	-npm install --silent --no-save --ignore-scripts --prefix .venv-peers @node-llama-cpp/linux-x64@3.22.1  # without npm: no llama.cpp
	@touch $@

mining-peers: .venv-mining/.ready  ## create .venv-mining: this project beside BERTopic, which its mining is compared with

.venv-mining/.ready: .venv/.ready benchmarks/mining-requirements.txt
	$(PYTHON) -m venv .venv-mining
	.venv-mining/bin/python -m pip install --quiet --disable-pip-version-check $$(grep -E '^torch==' requirements.txt)
	$(BIN)/uv pip install --quiet --python .venv-mining/bin/python --no-deps --requirements requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-mining/bin/python --no-deps --requirements benchmarks/mining-requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-mining/bin/python --no-deps --editable .
	@touch $@

clean:
	rm -rf .venv .venv-peers .venv-mining .venv-ray build demo-out out
