import numpy as np

from forethought.scorer.audit import fit_choices
from forethought.scorer.recovery import SetView
from forethought.scorer.selection import select

VIEW = SetView("moves", ("a", "b", "c"), {})


def records(num: int, seed: int = 0):
    """Labels drawn from softmax((S + bias) / .5) with b's bias of 2; every fourth turn has none."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(num):
        scores = rng.normal(-3, 1, 3)
        drawn = rng.choice(3, p=select(scores + [0, 2, 0], 0.5).probabilities)
        raw = {**dict(zip(VIEW.ids, scores.tolist(), strict=True)), "other": 0.0}
        label = None if number % 4 == 3 else VIEW.ids[drawn]
        assignments = {"moves": label, "others": "other"}
        found.append({"question": str(number), "assignments": assignments, "scores": {"raw": raw}})
    return found


def test_labels_of_choose_turns_fit_offsets_by_id_and_a_temperature():
    found = fit_choices(records(800), VIEW)

    assert found["choices"] == 600
    assert found["bias"].keys() == set(VIEW.ids)
    assert max(found["bias"], key=found["bias"].get) == "b"
    assert 0.4 < found["tau"] < 0.6
    assert found["log_loss_after"] < found["log_loss_before"]


def test_too_few_labels_give_no_fit():
    assert fit_choices(records(20), VIEW) is None
    assert fit_choices([], VIEW) is None
