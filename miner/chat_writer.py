"""A writer that asks a chat model: several samples a group, cached, counted, and with a cap.

Knows prompts and answers; what the model is, and whether a draft is any good, others know.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .answer_cache import AnswerCache
from .lint import estimated_tokens
from .writer import Answer, ChatModel, Draft, Evidence, NoAnswer, Origin, Request
from .writer_prompt import Reading, prompt_for, prompt_text, read_answer


@dataclass(frozen=True)
class WriterSettings:
    """`max_calls` caps what may be asked anew, None does not; `temperature` is of all samples but the first, which is greedy."""

    samples: int = 5
    temperature: float = 0.8
    max_tokens: int = 120
    max_calls: int | None = None
    seed: int = 0


class Estimate(NamedTuple):
    """What is still to be asked. Tokens are estimated from words; `tokens_out` is the most that can come."""

    calls: int
    cached: int
    tokens_in: int
    tokens_out: int


class ChatWriter:
    """Writes drafts by asking `model`. `calls` counts what it asked anew."""

    def __init__(
        self, model: ChatModel, cache: AnswerCache, settings: WriterSettings | None = None
    ) -> None:
        self.model, self.cache = model, cache
        self.settings = settings or WriterSettings()
        self.calls = 0

    def write(self, evidence: Evidence) -> list[Draft]:
        """A draft a sample; fewer where the cap of calls is reached, and the last then says so."""
        prompt = prompt_text(prompt_for(evidence))
        drafts: list[Draft] = []
        for sample, request in enumerate(self._requests(evidence)):
            origin = Origin(self.model.name, "", prompt, sample, request.temperature)
            known = self.cache.find(self.model.name, request)
            if known is None and self._is_spent():
                reason = f"was not asked for: the cap of {self.settings.max_calls} calls is reached"
                return [*drafts, Draft("", origin, reason)]
            try:
                answer = known or self._ask(request)
            except NoAnswer as reason:
                drafts.append(Draft("", origin, str(reason)))
            else:
                drafts.append(_draft(answer, origin))
        return drafts

    def estimate(self, groups: Sequence[Evidence]) -> Estimate:
        """What `write` would ask for all of `groups`, the cap counted in; asks nothing."""
        new = [
            request
            for evidence in groups
            for request in self._requests(evidence)
            if self.cache.find(self.model.name, request) is None
        ]
        left = None if self.settings.max_calls is None else self.settings.max_calls - self.calls
        asked = new[:left]
        return Estimate(
            calls=len(asked),
            cached=len(groups) * self.settings.samples - len(new),
            tokens_in=sum(estimated_tokens(m.content) for r in asked for m in r.messages),
            tokens_out=len(asked) * self.settings.max_tokens,
        )

    def _requests(self, evidence: Evidence) -> Iterator[Request]:
        messages, settings = prompt_for(evidence), self.settings
        for sample in range(settings.samples):
            temperature = settings.temperature if sample else 0.0
            yield Request(messages, temperature, settings.seed + sample, settings.max_tokens)

    def _is_spent(self) -> bool:
        return self.settings.max_calls is not None and self.calls >= self.settings.max_calls

    def _ask(self, request: Request) -> Answer:
        self.calls += 1
        answer = self.model.answer(request)
        self.cache.add(self.model.name, request, answer)
        return answer


def _draft(answer: Answer, origin: Origin) -> Draft:
    reading = Reading("", answer.flaw) if answer.flaw else read_answer(answer.text)
    return Draft(reading.text, replace(origin, revision=answer.revision), reading.dropped)
