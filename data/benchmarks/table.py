"""The benchmarks, one row each, and reading one by its name.

Knows where each is published, how its answers are judged and what its agent may use. The tools bear the names that SSR's
prompt gives them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import BenchmarkUnavailable
from ..formats.reader import Skipped
from .fields import Row
from .hub import PREFIX, fetched
from .question import Question, Unusable
from .row_files import rows_at
from .schema import Schema
from .schemas import (
    FVQA,
    HOTPOTQA,
    HR_MMSEARCH,
    INFOSEEK,
    LIVEVQA,
    MAT_SEARCH,
    MMSEARCH,
    SIMPLEVQA,
)

CROP, IMAGE, TEXT = "image_zoom_in_tool", "image_search_tool", "text_search_tool"
Metric = Literal["exact", "relaxed", "judge"]


def _all(question: Question) -> bool:
    return True


def _has_picture(question: Question) -> bool:
    return bool(question.images)


def _is_english(question: Question) -> bool:
    return question.facts.get("language", "EN").upper().startswith("EN")


@dataclass(frozen=True)
class Benchmark:
    """`hub` is OWNER/NAME, or OWNER/NAME/PATTERN where a data set holds more than the questions; None where the hub has none.

    `size` is how many rows stand behind SSR's tables, and `in_tables` says which of a whole benchmark they are.
    """

    name: str
    title: str
    metric: Metric
    tools: tuple[str, ...]
    reader: Schema
    license_note: str
    source: str
    hub: str | None = None
    size: int | None = None
    in_tables: Callable[[Question], bool] = _all

    @property
    def is_of_ssr(self) -> bool:
        """Whether it is one of the seven of SSR's tables."""
        return self.size is not None


@dataclass(frozen=True)
class Benchmarked:
    """What a place holds: questions, rows that cannot be asked, and files without any row of the benchmark."""

    questions: tuple[Question, ...]
    unusable: tuple[Unusable, ...] = ()
    skipped: tuple[Skipped, ...] = ()


ROWS = (
    Benchmark(
        "mmsearch",
        "MMSearch",
        "judge",
        (IMAGE, TEXT),
        MMSEARCH,
        "no licence stated",
        "arXiv 2409.12959; hub CaraJ/MMSearch",
        "CaraJ/MMSearch/end2end.parquet",
        171,
        _has_picture,
    ),
    Benchmark(
        "hr-mmsearch",
        "HR-MMSearch",
        "judge",
        (CROP, IMAGE, TEXT),
        HR_MMSEARCH,
        "no licence seen",
        "arXiv 2512.24330; hub sensenova/HR-MMSearch",
        "sensenova/HR-MMSearch",
        305,
    ),
    Benchmark(
        "fvqa-test",
        "FVQA-test",
        "judge",
        (IMAGE, TEXT),
        FVQA,
        "Apache-2.0 on its card",
        "arXiv 2506.20670; hub lmms-lab/FVQA",
        "lmms-lab/FVQA/fvqa_test.parquet",
        1800,
    ),
    Benchmark(
        "simplevqa",
        "SimpleVQA",
        "judge",
        (TEXT,),
        SIMPLEVQA,
        "code Apache-2.0; no licence of the data seen",
        "arXiv 2502.13059; hub m-a-p/SimpleVQA",
        "m-a-p/SimpleVQA",
        1013,
        _is_english,
    ),
    Benchmark(
        "livevqa",
        "LiveVQA",
        "judge",
        (IMAGE, TEXT),
        LIVEVQA,
        "CC BY-NC 4.0 on the hub, MIT on GitHub: not for commercial use",
        "hub ONE-Lab/LiveVQA-Research-Preview (its terms must be accepted there); GitHub fumingyang2004/LIVEVQA",
        "ONE-Lab/LiveVQA-Research-Preview",
        3602,
    ),
    Benchmark(
        "mat-search",
        "MAT-Search",
        "judge",
        (TEXT,),
        MAT_SEARCH,
        "Apache-2.0",
        "arXiv 2505.14246; hub laolao77/MAT",
        "laolao77/MAT/MAT-Benchmark/MAT-Search*",
        150,
    ),
    Benchmark(
        "infoseek",
        "InfoSeek",
        "relaxed",
        (IMAGE, TEXT),
        INFOSEEK,
        "annotations Apache-2.0; the photographs have their own licences",
        "arXiv 2302.11713; GitHub open-vision-language/infoseek, and the sample of 2,000 in EvolvingLMMs-Lab/multimodal-search-r1",
        None,
        2000,
    ),
    Benchmark(
        "hotpotqa",
        "HotpotQA",
        "exact",
        (TEXT,),
        HOTPOTQA,
        "CC BY-SA 4.0",
        "hotpotqa.github.io; hub hotpotqa/hotpot_qa",
        "hotpotqa/hotpot_qa/distractor/validation*",
    ),
)
BENCHMARKS: Mapping[str, Benchmark] = {row.name: row for row in ROWS}


def read_benchmark(name: str, place: str | None = None) -> Benchmarked:
    """The questions of a benchmark at a file, folder, glob or hub:NAME; from where it is published without `place`.

    Of rows with one id the first counts. BenchmarkUnavailable for a name that is not in the table, a place that cannot be read
    and one without a single question to ask; NotFound for a path that is not there.
    """
    benchmark = benchmark_named(name)
    place = place or (benchmark.hub and f"{PREFIX}{benchmark.hub}")
    if place is None:
        raise BenchmarkUnavailable(
            f"{benchmark.title} has no place on the hub that is known here; download it ({benchmark.source}) and give its file or folder"
        )
    found = fetched(place) if place.startswith(PREFIX) else place
    held = _collected(benchmark, rows_at(found, benchmark.reader.holds))
    if not held.questions:
        raise BenchmarkUnavailable(f"{place}: no question of {benchmark.title}{_why(held)}")
    return held


def benchmark_named(name: str) -> Benchmark:
    """The row of that name; BenchmarkUnavailable where there is none."""
    if name not in BENCHMARKS:
        known = ", ".join(BENCHMARKS)
        raise BenchmarkUnavailable(f"{name!r} is no benchmark; choose one of {known}")
    return BENCHMARKS[name]


def _collected(benchmark: Benchmark, entries: Iterable[Row | Unusable | Skipped]) -> Benchmarked:
    questions: dict[str, Question] = {}
    places: dict[str, str] = {}
    unusable: list[Unusable] = []
    skipped: list[Skipped] = []
    for entry in entries:
        match entry:
            case Skipped():
                skipped.append(entry)
            case Unusable():
                unusable.append(entry)
            case Row(place=place):
                for one in benchmark.reader.read(entry, benchmark.name):
                    if isinstance(one, Unusable):
                        unusable.append(one)
                    elif one.id in questions:
                        reason = f"its id {one.id!r} was met before, in {places[one.id]}"
                        unusable.append(Unusable(place, reason))
                    else:
                        questions[one.id], places[one.id] = one, place
    return Benchmarked(tuple(questions.values()), tuple(unusable), tuple(skipped))


def _why(held: Benchmarked) -> str:
    """What was found instead, in as few words as do."""
    if held.unusable:
        first = held.unusable[0]
        return f" can be asked: {len(held.unusable)} rows are unusable, the first ({first.row}): {first.reason}"
    files = ", ".join(file.file for file in held.skipped[:3])
    return f" in {len(held.skipped)} files ({files}); check the benchmark's name, or the place"
