"""Who is admitted, against planted gains; the intervals, against a bootstrap written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.errors import NothingToDo
from forethought.miner.admission import (
    RESAMPLES,
    ChooseGains,
    QuestionBootstrap,
    Verdict,
    admit,
)

NUM_QUESTIONS = 40
TURNS = tuple(f"t{q}:{i}" for q in range(NUM_QUESTIONS) for i in range(2))
QUESTIONS = tuple(turn.split(":")[0] for turn in TURNS)
SECOND = np.array([turn.endswith(":1") for turn in TURNS])
FITS = {  # which turns a text is assigned on, by how well it fits: the first of a question, or the second
    "helps": (0.9, 0.0),
    "twin": (0.8, 0.0),
    "equal": (0.95, 0.0),
    "harms": (0.0, 0.9),
    "also": (0.0, 0.8),
    "nowhere": (0.0, 0.0),
}


class PlantedGains:
    """Free thoughts gain about 3 nats; "helps" and its likes gain 2 where they fit, "harms" loses 1, "also" gains 1."""

    def __init__(self, num_questions: int = NUM_QUESTIONS, free: float = 3.0) -> None:
        self.num_turns = 2 * num_questions
        self.free = free

    def __call__(self, texts):
        noise = np.random.default_rng(1).normal(0, 0.5, (self.num_turns, 7))
        worth = {"helps": 2, "twin": 2, "equal": 2, "harms": -1, "also": 1, "nowhere": 5}
        columns = [worth[t] + noise[:, list(worth).index(t)] for t in texts]
        part = slice(self.num_turns)
        sources = tuple("ab"[i % 3 == 0] for i in range(self.num_turns))
        gains = np.array(columns).reshape(len(texts), self.num_turns).T
        return ChooseGains(gains, self.free + noise[:, 6], TURNS[part], QUESTIONS[part], sources)


def assign(turns, texts):
    """The best fit, none where nothing fits."""
    fits = np.array([[FITS[text][int(turn.endswith(":1"))] for text in texts] for turn in turns])
    return [int(row.argmax()) if row.max() > 0 else None for row in fits]


def verdicts(order, **options):
    return [trial.verdict for trial in admit(order, PlantedGains(), assign, **options).trials]


def test_what_helps_enters_what_is_redundant_or_harms_does_not():
    admission = admit(["helps", "twin", "harms", "also"], PlantedGains(), assign)
    helps, twin, harms, also = admission.trials

    assert admission.admitted == ("helps", "also")
    assert [trial.verdict for trial in admission.turned_away] == [
        Verdict.ADDS_NOTHING,
        Verdict.HARMS,
    ]
    assert helps.added.low > 0
    assert helps.added.value == pytest.approx(
        2 / 2 / 3, abs=0.05
    )  # on half of the turns, 2 of 3 nats
    assert helps.num_turns == NUM_QUESTIONS
    assert twin.num_turns == 0
    assert harms.added.high < 0
    assert also.added.value == pytest.approx(1 / 2 / 3, abs=0.05)
    assert admission.unit == "recovery"
    assert (admission.num_turns, admission.num_questions) == (len(TURNS), NUM_QUESTIONS)


def test_one_that_takes_its_turns_from_an_equal_one_is_unproven():
    assert verdicts(["helps", "equal"]) == [Verdict.ADMITTED, Verdict.UNPROVEN]


def test_order_matters_only_through_who_is_in_before():
    assert verdicts(["twin", "helps"]) == [Verdict.ADMITTED, Verdict.UNPROVEN]
    assert verdicts(["nowhere", "also"]) == [Verdict.ADDS_NOTHING, Verdict.ADMITTED]


def test_a_pin_enters_whatever_it_is_worth_and_is_measured_all_the_same():
    admission = admit(["harms", "also", "helps"], PlantedGains(), assign, pinned=["harms"])

    assert [t.verdict for t in admission.trials] == [
        Verdict.PINNED,
        Verdict.ADDS_NOTHING,
        Verdict.ADMITTED,
    ]
    assert admission.trials[0].added.high < 0
    assert admission.admitted == ("harms", "helps")


def test_where_free_thoughts_do_not_surely_gain_nats_decide():
    admission = admit(["helps", "harms"], PlantedGains(free=0.0), assign)

    assert admission.unit == "nats"
    assert admission.admitted == ("helps",)
    assert admission.trials[0].added.value == pytest.approx(1.0, abs=0.15)


def test_too_few_questions_are_told():
    with pytest.raises(NothingToDo, match="at least 10 choose questions and there are 4"):
        admit(["helps"], PlantedGains(num_questions=4), assign)


def test_the_same_seed_gives_the_same_admission_and_nothing_to_try_is_nothing_admitted():
    order = ["helps", "twin", "harms"]

    first, again = (admit(order, PlantedGains(), assign, seed=3) for _ in range(2))
    other = admit(order, PlantedGains(), assign, seed=4)

    assert first == again
    assert first.as_json()["trials"][0]["added"]["low"] == first.trials[0].added.low
    assert other.trials[0].added.low != first.trials[0].added.low
    assert other.trials[0].added.value == first.trials[0].added.value
    assert admit([], PlantedGains(), assign).admitted == ()


@st.composite
def measured(draw):
    """Numerators and denominators of turns of a few questions out of one or two sources."""
    num_turns = draw(st.integers(1, 12))
    questions = draw(st.lists(st.sampled_from("abcd"), min_size=num_turns, max_size=num_turns))
    sources = ["s" if q in draw(st.sampled_from(["abcd", "ab"])) else "r" for q in questions]
    numbers = st.lists(st.floats(-3, 3), min_size=num_turns, max_size=num_turns)
    below = st.lists(st.floats(0.5, 3), min_size=num_turns, max_size=num_turns)
    return questions, sources, np.array(draw(numbers)), np.array(draw(below))


def written_out(questions, sources, above, below, seed):
    """The bootstrap as a loop: draw questions, take their turns as often, one ratio a source, their mean."""
    names = sorted(set(questions))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(names), [1 / len(names)] * len(names), RESAMPLES)
    values = []
    for counts in drawn:
        turns = [
            t
            for name, n in zip(names, counts, strict=True)
            for t in range(len(questions))
            for _ in range(n)
            if questions[t] == name
        ]
        ratios = []
        for source in sorted(set(sources)):
            own = [t for t in turns if sources[t] == source]
            if own:
                ratios.append(above[own].sum() / below[own].sum())
        values.append(np.mean(ratios))
    return np.percentile(values, [2.5, 97.5])


@pytest.mark.parametrize("seed", [0, 1])
def test_an_interval_is_that_of_the_bootstrap_written_out(seed):
    rng = np.random.default_rng(seed)
    questions = [f"q{i}" for i in rng.integers(0, 9, 30)]
    sources = ["r" if q < "q3" else "s" for q in questions]
    above, below = rng.normal(1, 1, 30), rng.random(30) + 0.5
    found = QuestionBootstrap(questions, sources, seed).ratio(above, below)

    assert [found.low, found.high] == pytest.approx(
        written_out(questions, sources, above, below, seed).tolist()
    )


def test_an_interval_by_question_is_as_wide_as_theory_says():
    worth = np.random.default_rng(0).normal(0, 1, 200)
    questions = [f"{i}" for i in range(200) for _ in range(3)]
    found = QuestionBootstrap(questions, ["s"] * 600, 0).mean(np.repeat(worth, 3))

    assert found.high - found.low == pytest.approx(2 * 1.96 * worth.std() / 200**0.5, rel=0.08)


@given(measured(), st.randoms(use_true_random=False))
def test_an_interval_does_not_depend_on_the_order_of_turns(given_turns, random):
    questions, sources, above, below = given_turns
    order = random.sample(range(len(questions)), len(questions))
    shuffled = [[names[i] for i in order] for names in (questions, sources)]
    found = QuestionBootstrap(questions, sources, 0).ratio(above, below)
    again = QuestionBootstrap(*shuffled, 0).ratio(above[order], below[order])

    assert [again.value, again.low, again.high] == pytest.approx(
        [found.value, found.low, found.high], abs=1e-9
    )
    assert found.low <= found.high
