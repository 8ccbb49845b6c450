"""What a chat template makes of exported rows: whether the prompt stays the beginning of the whole, and no thought is lost."""

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import TemplateError

from .row_checks import Said, said_in
from .row_shape import RowShape


def template_problems(shape: RowShape, row: Mapping[str, Any], tokenizer: Any) -> Iterator[str]:
    """One line each. A trainer masks the tokens of the prompt, so they must be the first of the whole; earlier words must stay."""
    said = said_in(shape, row)
    try:
        if shape.is_asked:
            rendered = _rendered(said, tokenizer, is_asked=True)
            if said[-1].text.strip() not in rendered:
                yield "the template loses the last message"
            return
        for place, one in enumerate(said):
            if one.is_trained:
                yield from _boundary(said[: place + 1], tokenizer)
        yield from _losses(said, tokenizer)
    except (TemplateError, ValueError, TypeError) as error:
        yield f"the template refuses it ({str(error).splitlines()[0] if str(error) else error!r})"


def _boundary(said: list[Said], tokenizer: Any) -> Iterator[str]:
    """Of the last message and what precedes it."""
    prompt = _ids(_rendered(said[:-1], tokenizer, is_asked=True), tokenizer)
    whole = _ids(_rendered(said, tokenizer, is_asked=False), tokenizer)
    if whole[: len(prompt)] != prompt:
        yield "the prompt's tokens are not the first of the whole"
    elif len(whole) == len(prompt):
        yield "no token is left to train"


def _losses(said: list[Said], tokenizer: Any) -> Iterator[str]:
    rendered = _rendered(said, tokenizer, is_asked=False)
    lost = sum(one.text.strip() not in rendered for one in said)
    if lost:
        yield f"the template loses or changes {lost} of {len(said)} messages"


def _rendered(said: list[Said], tokenizer: Any, *, is_asked: bool) -> str:
    messages = [{"role": one.role, "content": one.text} for one in said]
    return str(
        tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=is_asked)
    )


def _ids(text: str, tokenizer: Any) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
