"""A benchmark of the table as an arena: its questions at a place, its tools with the back ends the user gives, SSR's prompt."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...data.benchmarks.question import Question
from ...data.benchmarks.table import CROP, IMAGE, TEXT, Benchmark, benchmark_named, read_benchmark
from ...data.candidates import Candidate
from ...data.errors import NothingToDo, ToolUnavailable
from ...data.traces import kind_of
from ...scorer.agent.crop import Crop
from ...scorer.agent.dialogue import Dialogue, Plain, chat_of
from ...scorer.agent.episode import Limits
from ...scorer.agent.image_search import RecordedImageSearch, read_image_searches
from ...scorer.agent.passages import Passages, PassageSearch, read_passages
from ...scorer.agent.prompt import system_prompt
from ...scorer.agent.search_http import connect
from ...scorer.agent.tools import Situation, Tool
from ...scorer.model import LanguageModel
from .arena import Arena
from .plan import Place, Prompt

SEARCH_R1 = "search-r1"
PROBE = "capital of France"  # asked once, before a long run rather than after it
SSR_LIMITS = Limits(8, 1024, 8192, 8192, 32_768)  # of its command line; it has no free thoughts
BEGINNINGS = {
    CROP: '<tool_call>{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [',
    IMAGE: '<tool_call>{"name": "image_search_tool", "arguments": {}}</tool_call>',
    TEXT: '<tool_call>{"name": "text_search_tool", "arguments": {"query": "',
}


@dataclass(frozen=True)
class BackEnds:
    """Where searches go. `text`: a file of passages, or KIND=URL (a URL alone is a Search-R1 retriever); `images`: recorded ones."""

    text: str | None = None
    images: Path | None = None


NOWHERE = BackEnds()


def arena_of(place: Place, ends: BackEnds, seed: int, prompt: Prompt | None) -> Arena:
    """The questions behind the papers' tables, in an order drawn by `seed`; every other row is counted by why it is not asked.

    A tool that has no back end is not told to the model. Errors are those of whatever reads the place and the back ends.
    """
    benchmark = benchmark_named(place.name)
    held = read_benchmark(place.name, place.path)
    questions = [one for one in held.questions if benchmark.in_tables(one)]
    if not questions:
        raise NothingToDo(
            f"{benchmark.title}: none of its {len(held.questions)} questions is behind the papers' tables"
        )
    left_out = Counter({"unusable": len(held.unusable)} if held.unusable else {})
    left_out.update({"not in the tables": len(held.questions) - len(questions)})
    tools = _tools(benchmark, ends)

    def dialogue(model: LanguageModel, listed: Sequence[Candidate]) -> Dialogue:
        system = system_prompt(tools, listed)
        plain = Plain(f"{system}\n\n")
        return plain if prompt is Prompt.PLAIN else chat_of(model.tokenizer, system, model.name)

    return Arena(
        benchmark.name,
        _drawn(questions, seed),
        {kind_of(name): tool for name, tool in tools.items()},
        dialogue,
        benchmark.metric,
        SSR_LIMITS,
        beginnings=(*(BEGINNINGS[name] for name in tools), "<answer>"),
        is_listed=True,
        disabled=frozenset(kind_of(name) for name in (CROP, IMAGE, TEXT) if name not in tools),
        left_out=+left_out,
    )


def _drawn(questions: Sequence[Question], seed: int) -> tuple[Question, ...]:
    drawn = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(drawn)
    return tuple(drawn)


def _tools(benchmark: Benchmark, ends: BackEnds) -> Mapping[str, Tool]:
    tools: dict[str, Tool] = {}
    if CROP in benchmark.tools:
        tools[CROP] = Crop()
    if IMAGE in benchmark.tools:
        recorded = read_image_searches(ends.images) if ends.images else None
        tools[IMAGE] = RecordedImageSearch(recorded)
    if TEXT in benchmark.tools and ends.text:
        tools[TEXT] = _text_search(ends.text)
    return tools


def _text_search(place: str) -> Tool:
    kind, _, url = place.rpartition("=")
    if "://" not in place:
        return PassageSearch(Passages(read_passages(Path(place))), TEXT)
    search = connect(kind or SEARCH_R1, url, TEXT)
    found = search.call({"query": PROBE}, Situation(PROBE))
    if found.failure:
        raise ToolUnavailable(f"the search at {url} cannot be asked: {found.failure}")
    return search
