"""How the command ends where its output or the user stops it: one line, and an exit code that says which."""

import subprocess
import sys

import pytest

STOPPED = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
sys.argv = ["forethought", "sets", "show", "ssr"]
from forethought.ui.cli import main
main()
"""


def run(code, stdout=subprocess.PIPE):
    return subprocess.run(
        [sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )


@pytest.mark.parametrize("as_json", ["", ", '--json'"])
def test_output_that_cannot_be_written_is_one_line(as_json):
    code = f"import sys; sys.argv = ['forethought', 'sets', 'show', 'ssr'{as_json}]\n"
    with open("/dev/full", "w") as full:
        ended = run(code + "from forethought.ui.cli import main; main()", full)

    assert ended.returncode == 2
    assert ended.stderr == "forethought: cannot go on: No space left on device\n"


@pytest.mark.parametrize("name", ["typer", "sqlmodel", "forethought.data.library"])
def test_an_interrupt_while_libraries_load_is_one_line(name):
    ended = run(STOPPED.format(name=name))

    assert (ended.returncode, ended.stderr) == (130, "forethought: interrupted\n")
