"""The Python in docs/scorer.md, run as it stands there."""

import re
from pathlib import Path

import numpy as np
from PIL import Image
from tiny_folders import save_seeing_folder

from forethought.scorer.model import load_model
from forethought.scorer.plain import score_plainly, totals

PAGE = Path(__file__).parents[2] / "docs" / "scorer.md"
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)


def test_the_example_scores_a_set_after_a_picture_as_the_plain_scorer_does(tmp_path, monkeypatch):
    save_seeing_folder(tmp_path / "Qwen" / "Qwen3-VL-2B-Instruct")
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(0).integers(0, 255, (24, 40, 3), dtype=np.uint8)
    Image.fromarray(noise).save("page.png")
    found = {}

    exec(EXAMPLE.replace("bfloat16", "float64"), found)

    model, candidates = load_model("Qwen/Qwen3-VL-2B-Instruct", "float64"), found["candidates"]
    question = model.encode("Question: Which year does the page name?\n")
    ids = [*question, *model.eyes.tokens(found["picture"]), *model.encode("\n")]
    plain = score_plainly(model, ids, candidates.ids, pictures=[found["picture"]])
    assert np.allclose(found["means"], totals(plain) / candidates.num_tokens, atol=1e-10)
    chosen = candidates.ids[int(found["means"].argmax())]
    assert found["context"].ids == (*ids, *chosen)
