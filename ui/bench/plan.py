"""What a bench plays: which benchmarks, in which modes, within which limits. Knows no model and no file."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from ...data.benchmarks.table import BENCHMARKS
from ...data.errors import ForethoughtError
from ...data.identity import Split, content_id
from ...scorer.agent.thinking import LEAST_LOG_Z, Mode

Json = dict[str, Any]
SEVEN = "seven"
WHOLE = (Mode.SELECT, Mode.THINK)  # the modes that are compared above all
AT = "@"  # select@4: from the set's first four
EQUALS = "="  # margin=0.5: half of the turns by that signal
SHARE = 0.5  # of a policy that names none
UTILITY = "utility"  # the policy that decides question by question


class Calibration(StrEnum):
    """What is taken out of a candidate's score, of what needs no observed choices."""

    RAW = "raw"
    PMI = "pmi"  # what it is after a context that says nothing
    BATCH = "batch"  # its mean over turns that are not asked


class Prompt(StrEnum):
    """How a run is written down."""

    CHAT = "chat"
    PLAIN = "plain"


class SignalName(StrEnum):
    """What a policy decides by, before a turn is thought."""

    RANDOM = "random"
    MARGIN = "margin"  # by how little the best candidate leads
    LOGZ = "logz"  # how unlikely the set is as a whole
    ENTROPY = "entropy"  # how evenly the set's probabilities lie
    RATING = "rating"  # the model's rating of its own chance
    JOINT = "joint"  # how much better more thinking is rated
    PROBE = "probe"  # a fitted one, on the last hidden state


class Policy(NamedTuple):
    """A signal, and the share of turns that go to each arm behind select: thinking; or handing over; or both."""

    signal: SignalName
    shares: tuple[float, ...] = (SHARE,)

    @property
    def label(self) -> str:
        return f"{self.signal}{EQUALS}{','.join(f'{share:g}' for share in self.shares)}"


class Utility(NamedTuple):
    """A router sends each question to the mode of the best quality less price times cost, before anybody has begun on it."""

    price: float = 0.0

    @property
    def label(self) -> str:
        return f"{UTILITY}{EQUALS}{self.price:g}"


class Place(NamedTuple):
    """A benchmark by its name, and where it lies; None: where it is published, or in the store."""

    name: str
    path: str | None = None

    @classmethod
    def of(cls, text: str) -> "Place":
        """NAME, or NAME=PATH."""
        name, _, path = text.partition("=")
        return cls(name, path or None)


@dataclass(frozen=True)
class BenchPlan:
    """How many questions a benchmark and mode (`fewer` in all but select and think, where it is given), and how they are asked.

    `limits` changes some of the benchmark's own. None leaves `is_listed` (the set's texts stand before each question, in modes that choose from them), `is_guided` (an action
    begins as one of those that the benchmark knows) and `prompt` to the benchmark. `sizes`: select from the set's first so many, too.
    """

    places: tuple[Place, ...]
    modes: tuple[Mode, ...]
    source: str | None = None  # of recorded runs; None: all of the store's
    limit: int | None = 100
    fewer: int | None = None
    seed: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    least_log_z: float = LEAST_LOG_Z
    is_listed: bool | None = None
    is_guided: bool | None = None
    prompt: Prompt | None = None
    calibration: Calibration = Calibration.RAW
    tau: float = 0.0  # of select; 0 takes the best
    sizes: tuple[int, ...] = ()
    policies: tuple[Policy, ...] = ()
    utilities: tuple[Utility, ...] = ()
    split: Split | None = None  # questions of this one only; None leaves it to the benchmark
    visual_budget: str | None = None  # as VisualBudget writes itself; None: all of the pictures
    agreement_turns: int = (
        60  # recorded ones, whose actions each mode is compared with, where there are such
    )

    def labels(self, candidates: int) -> tuple[str, ...]:
        """All that is reported: who plays, and the utilities, whose questions others play."""
        return (*self.players(candidates), *(one.label for one in self.utilities))

    def players(self, candidates: int) -> tuple[str, ...]:
        """The modes, select by the sizes that are smaller than the set, and the policies that decide turn by turn."""
        smaller = sorted(size for size in set(self.sizes) if size < candidates)
        nested = [f"{Mode.SELECT}{AT}{size}" for size in smaller]
        routed = [policy.label for policy in self.policies]
        return (*(mode.value for mode in self.modes), *nested, *routed)

    def playable(self, candidates: int) -> tuple[str, ...]:
        """Whoever a question may be sent to: every mode, select by every size, and this plan's policies."""
        nested = (f"{Mode.SELECT}{AT}{size}" for size in range(1, candidates))
        return (*Mode, *nested, *(policy.label for policy in self.policies))

    def asks(self, label: str, place: int) -> bool:
        """Whether the question at this place is played in the mode."""
        is_whole = label in WHOLE or EQUALS in label
        mosts = (self.limit, None if is_whole else self.fewer)
        return all(place < most for most in mosts if most)


def places_of(texts: Sequence[str]) -> tuple[Place, ...]:
    """Each as NAME or NAME=PATH; SEVEN names those of SSR's tables that are not named with a path."""
    named = [Place.of(text) for text in texts if text != SEVEN]
    if SEVEN not in texts:
        return tuple(named)
    others = {place.name for place in named}
    seven = [Place(row.name) for row in BENCHMARKS.values() if row.is_of_ssr]
    return (*named, *(place for place in seven if place.name not in others))


def mode_of(label: str) -> Mode:
    """A policy's is select: that is where its turns begin, and most of what it needs is told."""
    return Mode.SELECT if EQUALS in label else Mode(label.partition(AT)[0])


def size_of(label: str) -> int | None:
    """Of how many candidates `label` selects; None: of all."""
    size = label.partition(AT)[2]
    return int(size) if size else None


def parse_modes(names: Sequence[str]) -> tuple[Mode, ...]:
    """Each once, in the order given; ForethoughtError for a name that is none."""
    unknown = [name for name in names if name not in list(Mode)]
    if unknown:
        raise ForethoughtError(f"no mode {unknown[0]!r}; modes are {', '.join(Mode)}")
    return tuple(dict.fromkeys(Mode(name) for name in names))


def parse_policies(texts: Sequence[str], arms: int = 1) -> tuple[Policy, ...]:
    """Each as NAME or NAME=SHARE, in the order given; `arms` there are behind select, which may have a share each (NAME=SHARE,SHARE).

    ForethoughtError for a name that is none, and for shares that are none.
    """
    return tuple(dict.fromkeys(_policy(text, arms) for text in texts))


def parse_utility(text: str) -> Utility:
    """UTILITY, or UTILITY=PRICE. ForethoughtError for a price that is none."""
    told = text.partition(EQUALS)[2]
    try:
        price = float(told or 0)
    except ValueError:
        price = math.nan
    if not (math.isfinite(price) and price >= 0):
        raise ForethoughtError(
            f"{text}: a price is a number from 0 on, the quality that the dearest arm's cost is worth, as in {UTILITY}{EQUALS}0.1"
        )
    return Utility(price)


def is_utility(text: str) -> bool:
    """Whether it names the policy that decides question by question."""
    return text.partition(EQUALS)[0] == UTILITY


def _policy(text: str, arms: int) -> Policy:
    name, _, told = text.partition(EQUALS)
    if name not in list(SignalName):
        raise ForethoughtError(
            f"no policy {name!r}; policies are {Mode.SELECT}, {Mode.THINK}, {', '.join(SignalName)}, {UTILITY}"
        )
    try:
        shares = tuple(float(part) for part in told.split(",")) if told else (SHARE,)
    except ValueError:
        shares = ()
    if not (shares and all(share >= 0 for share in shares) and sum(shares) <= 1):
        raise ForethoughtError(
            f"{text}: a share is a number from 0 to 1, as in {name}{EQUALS}0.5, and several add up to 1 at most"
        )
    if len(shares) > arms:
        raise ForethoughtError(
            f"{text}: {len(shares)} shares for {arms} arm{'s' * (arms > 1)} behind select; a second one takes --hand-over"
        )
    return Policy(SignalName(name), shares)


def run_id(plan: BenchPlan, facts: Json) -> str:
    """Of all that decides a benchmark's records; how many questions are asked, and in which modes, does not."""
    decides: Json = {
        "seed": plan.seed,
        "least_log_z": plan.least_log_z,
        "listed": plan.is_listed,
        "guided": plan.is_guided,
        "prompt": plan.prompt,
        "calibration": plan.calibration,
        "tau": plan.tau,
    }
    if plan.visual_budget is not None:
        decides["visual_budget"] = plan.visual_budget
    return content_id("bench", {"plan": decides, **facts})
