"""A bench's report as named values, ready to be printed or drawn: None where a figure was not told or is no number.

Knows the report's keys (bench/figures.py, bench/runs.py) and nothing of how anything is shown. Names in it are untrusted: they
come out on one line and short.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .charts import shortened

Json = Mapping[str, Any]
NAME_CHARACTERS, TEXT_CHARACTERS = 40, 240
MOST = 1e12  # of any figure here; what is more is none
KIND = "bench"  # of the report among the store's documents
SECONDS = ("media", "prefill", "reasoning", "action", "tool")
TOKENS = ("injected", "generated", "action")
SELECT, THINK, AT, EQUALS = "select", "think", "@", "="


class Told(NamedTuple):
    """A figure with its interval, over `n`."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Spread(NamedTuple):
    p50: float | None = None
    p95: float | None = None
    mean: float | None = None


class ModeRow(NamedTuple):
    """One mode on one benchmark, or on all; milliseconds a turn, seconds and turns a question, tokens a turn."""

    mode: str
    n: int
    failed: int
    unjudged: int
    without_truth: int
    success: Told
    f1: float | None
    coverage: Told
    reasoning: Spread
    model: Spread
    turns: float | None
    seconds: Mapping[str, float | None]
    tokens: Mapping[str, float | None]
    capped: float | None
    announced: float | None
    stops: Mapping[str, int]
    faults: Mapping[str, int]
    matches: Mapping[str, int]
    tool_failures: int
    shares: Mapping[str, float]  # by candidate's id
    routes: Mapping[str, int] = {}  # turns of a policy, by where they were sent
    arms: Mapping[str, int] = {}  # questions that a router sent, by the mode that played them


class Sent(NamedTuple):
    """What a policy sent where: `counts` of its turns, or of its questions, by the mode or model that they went to."""

    mode: str
    what: str
    counts: Mapping[str, int]


class Against(NamedTuple):
    """Selecting less another mode, on the questions that both were asked; saved as a share of the other's mean.

    `n` counts those without a truth, too, which `difference` leaves out.
    """

    mode: str
    n: int
    unpaired: int
    difference: Told
    only_select: int
    only_other: int
    p: float | None
    reasoning_saved: float | None
    model_saved: float | None


class Agreement(NamedTuple):
    """Actions as recorded under the recorded history; `constant` is what the most frequent one alone gets."""

    turns: int
    modes: Mapping[str, Told]
    constant: float | None
    against: Mapping[str, Told]


class Part(NamedTuple):
    """One benchmark, or all of them together; `own_metric` is what it wants, `metric` what it got."""

    name: str
    modes: tuple[ModeRow, ...]
    against: tuple[Against, ...]
    first: str  # the mode that `against` is of
    agreement: Agreement | None
    is_floor: bool
    metric: str
    own_metric: str
    left_out: Mapping[str, int]
    verdicts: Mapping[str, int]

    def mode(self, name: str) -> ModeRow | None:
        return next((row for row in self.modes if row.mode == name), None)


def pooled(report: Json) -> Part:
    """All questions of all benchmarks together."""
    return _part(shortened(str(report.get("benchmark") or ""), TEXT_CHARACTERS), report)


def parts(report: Json) -> tuple[Part, ...]:
    """Each benchmark; a report of before there were several is one."""
    found = _mapping(report.get("benchmarks"))
    if not found:
        return (pooled(report),) if _mapping(report.get("modes")) else ()
    return tuple(_part(_name(name), _mapping(one)) for name, one in found.items())


def mean_success(report: Json) -> dict[str, float | None]:
    """By mode over the benchmarks, each counting once."""
    found = _mapping(report.get("mean"))
    return {_name(mode): number(_mapping(one).get("success")) for mode, one in found.items()}


def texts(report: Json) -> dict[str, str]:
    """The set's candidates as they were played, by id and in their order."""
    found = _mapping(report.get("texts"))
    return {id: shortened(str(text), TEXT_CHARACTERS) for id, text in found.items()}


def choosing(part: Part) -> list[ModeRow]:
    """The modes that took candidates."""
    return [row for row in part.modes if row.shares]


def sent(part: Part) -> list[Sent]:
    """Of every policy; nothing of modes, which send nothing."""
    each = [(row.mode, (("turns", row.routes), ("questions", row.arms))) for row in part.modes]
    return [Sent(mode, what, counts) for mode, told in each for what, counts in told if counts]


def modes_of(parts: Iterable[Part]) -> list[str]:
    """Every mode that was played in any of them, once."""
    return list(dict.fromkeys(row.mode for part in parts for row in part.modes))


def number(value: Any) -> float | None:
    """`value` as a number that can be printed and drawn; None for whatever else it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MOST:
        return None
    return None if math.isnan(value) else float(value)


def percent(share: float | None) -> str:
    return "–" if share is None else _signs(f"{100 * share:.1f}\u00a0%")


def saved(share: float | None) -> str:
    """A share of time saved; more time as a multiple of what the other takes, which no share tells."""
    return percent(share) if share is None or share >= 0 else f"takes {times(share)}"


def times(saved: float) -> str:
    """What is taken where less than nothing is saved, as a multiple of what the other takes."""
    return f"{plain(1 - saved)} times"


def spared(told: Against) -> list[str]:
    """What selecting saves or takes more of, a clause each; nothing of what was not told."""
    named = (
        (told.reasoning_saved, "the reasoning time a turn"),
        (told.model_saved, "the model's time a question"),
    )
    return [
        f"saves {percent(share)} of {what}" if share >= 0 else f"{saved(share)} {what}"
        for share, what in named
        if share is not None
    ]


def range_of(told: Told) -> str:
    """The interval of a share, in percent; empty where there is none."""
    if told.low is None or told.high is None:
        return ""
    return _signs(f"[{100 * told.low:.1f}, {100 * told.high:.1f}]")


def points(told: Told) -> str:
    """A difference of shares in points of percent, with its interval; a dash for it where all questions differ alike."""
    if told.value is None:
        return "–"
    value = f"{100 * told.value:+.1f}"
    if told.low is None or told.high is None:
        return _signs(f"{value} [–]")
    return _signs(f"{value} [{100 * told.low:+.1f},\u00a0{100 * told.high:+.1f}]")


def plain(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else _signs(f"{value:,.{digits}f}")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def questions(count: int) -> str:
    return counted(count, "question")


def chance(p: float | None) -> str:
    """A p-value as tables print it."""
    return "< 0.001" if p is not None and p < 0.001 else plain(p, 3)


def is_clear(told: Told) -> bool:
    """Whether the whole interval lies on one side of zero."""
    return told.low is not None and told.high is not None and (told.low > 0 or told.high < 0)


def unlike(report: Json) -> list[Part]:
    """The benchmarks that want another metric than they were scored by, for want of a judge."""
    return [part for part in parts(report) if part.metric != part.own_metric]


def _part(name: str, found: Json) -> Part:
    against, first = _mapping(found.get("select_against")), SELECT
    if not against:
        others = _mapping(found.get("first_against"))
        against, first = _mapping(others.get("modes")), _name(others.get("first"))
    agreed = _mapping(found.get("agreement"))
    return Part(
        name,
        tuple(
            _mode(_name(mode), _mapping(one)) for mode, one in _mapping(found.get("modes")).items()
        ),
        tuple(_against(_name(mode), _mapping(one)) for mode, one in against.items()),
        first,
        _agreement(agreed) if agreed else None,
        bool(found.get("floor", True)),
        _name(found.get("metric")),
        _name(found.get("own_metric")),
        _counts(found.get("left_out")),
        _counts(found.get("verdicts")),
    )


def _mode(mode: str, found: Json) -> ModeRow:
    seconds, tokens = (
        _mapping(found.get("seconds_a_question")),
        _mapping(found.get("tokens_a_turn")),
    )
    model = _spread(found.get("model_s_spread"))
    shares = {id: number(share) for id, share in _mapping(found.get("shares")).items()}
    return ModeRow(
        mode=mode,
        n=_count(found.get("n")),
        failed=_count(found.get("failed")),
        unjudged=_count(found.get("unjudged")),
        without_truth=_count(found.get("without_truth")),
        success=_told(found.get("success")),
        f1=number(found.get("f1")),
        coverage=_told(found.get("coverage")),
        reasoning=_spread(found.get("reasoning_ms")),
        model=model._replace(mean=number(found.get("model_s"))),
        turns=number(found.get("turns")),
        seconds={part: number(seconds.get(part)) for part in SECONDS},
        tokens={part: number(tokens.get(part)) for part in TOKENS},
        capped=number(found.get("capped")),
        announced=number(found.get("announced")),
        stops=_counts(found.get("stops")),
        faults=_counts(found.get("faults")),
        matches=_counts(found.get("matches")),
        tool_failures=_count(found.get("tool_failures")),
        shares={id: share for id, share in shares.items() if share is not None},
        routes=_counts(found.get("routes")),
        arms=_counts(found.get("arms")),
    )


def _against(mode: str, found: Json) -> Against:
    mcnemar = _mapping(found.get("mcnemar"))
    return Against(
        mode,
        _count(found.get("n")),
        _count(found.get("unpaired")),
        _told(found.get("success_difference")),
        _count(mcnemar.get("only_first")),
        _count(mcnemar.get("only_second")),
        number(mcnemar.get("p")),
        number(found.get("reasoning_saved")),
        number(found.get("model_saved")),
    )


def _agreement(found: Json) -> Agreement:
    return Agreement(
        _count(found.get("turns")),
        {_name(mode): _told(one) for mode, one in _mapping(found.get("modes")).items()},
        number(found.get("constant")),
        {_name(mode): _told(one) for mode, one in _mapping(found.get("select_against")).items()},
    )


def _told(found: Any) -> Told:
    one = _mapping(found)
    value, low, high = (number(one.get(part)) for part in ("value", "low", "high"))
    return Told(value, low, high, _count(one.get("n")))


def _spread(found: Any) -> Spread:
    return Spread(*(number(_mapping(found).get(part)) for part in Spread._fields))


def _mapping(found: Any) -> Json:
    return found if isinstance(found, Mapping) else {}


def _counts(found: Any) -> dict[str, int]:
    return {_name(name): _count(count) for name, count in _mapping(found).items()}


def _count(found: Any) -> int:
    return int(number(found) or 0)


def _name(found: Any) -> str:
    return "" if found is None else shortened(str(found), NAME_CHARACTERS)


def _signs(text: str) -> str:
    return text.replace("-", "−")
