"""How a benchmark's own rows are read: which names its fields go by. Knows no particular benchmark."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .fields import (
    Row,
    Unaskable,
    answers_in,
    facts_in,
    id_in,
    image_results_in,
    images_in,
    question_in,
)
from .question import Question, Unusable
from .unified import flattened, is_unified


def alone(row: Row) -> Iterable[Row]:
    """A row that asks one question."""
    return (row,)


@dataclass(frozen=True)
class Schema:
    """Names of fields: of the question, the id and the pictures the first that is there counts, of the truths all.

    `shots` are pictures of a page of image search results. `unfold` takes a row apart that asks several questions.
    """

    question: tuple[str, ...]
    truths: tuple[str, ...]
    ids: tuple[str, ...]
    images: tuple[str, ...] = ()
    shots: tuple[str, ...] = ()
    unfold: Callable[[Row], Iterable[Row]] = alone

    def holds(self, value: Any) -> bool:
        """Whether a JSON value is a row of this benchmark, sound or not, in its own shape or the unified one."""
        is_own = isinstance(value, dict) and any(name in value for name in self.question)
        return is_own or is_unified(value)

    def read(self, row: Row, benchmark: str) -> Iterator[Question | Unusable]:
        """The row's questions, and why one of them cannot be asked."""
        if not is_unified(row.fields):
            yield from (self._asked(one, benchmark) for one in self.unfold(row))
            return
        try:
            flat = flattened(row)
        except Unaskable as lack:
            yield Unusable(row.place, str(lack))
        else:
            yield UNIFIED._asked(flat, benchmark)

    def _asked(self, row: Row, benchmark: str) -> Question | Unusable:
        try:
            return Question(
                id=id_in(row, self.ids),
                text=question_in(row, self.question),
                answers=answers_in(row, self.truths),
                benchmark=benchmark,
                images=images_in(row, self.images),
                image_results=image_results_in(row, self.shots),
                facts=facts_in(row),
            )
        except Unaskable as lack:
            return Unusable(row.place, str(lack))


UNIFIED = Schema(
    question=("question",),
    truths=("ground_truth", "candidate_answers"),
    ids=("id", "data_id"),
    images=("image", "images"),
)
