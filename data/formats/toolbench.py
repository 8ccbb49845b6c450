"""ToolBench: search trees of tool calls, and chains of them.

A tree's runs are its paths from the root to a leaf. Paths share their beginnings: a thought counts once, in the first
path that has it; later ones keep what was done and seen there.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..traces import Outcome, Trace, Turn
from .conversation import UNPARSED
from .parts import NO_CONTENT
from .steps import Step, action_of, is_broken, trace_of_steps

Node = Mapping[str, Any]
FINISH, GIVE_UP = "Finish", "give_up"
PRINTED = re.compile(
    r"""\{'name': '(?P<name>(?:[^'\\]|\\.)*)(?:', 'arguments': (?P<quote>['"])(?P<arguments>(?:(?!(?P=quote))[^\\]|\\.)*))?"""
    r"""(?:.*?'response': ['"](?P<response>.*))?""",
    re.DOTALL,
)
END = re.compile(r"""['"]\}\Z""")
KINDS = ("Thought", "Action", "Action Input")
ROLES = ("system", "user", "assistant", "tool")
CUT = 100  # characters to which the chains' texts were cut by those who published them


def is_toolbench_tree(document: Any) -> bool:
    match document:
        case {
            "tree": {"tree": {"node_type": str(), "children": list()}},
            "answer_generation": dict(),
        }:
            return True
    return False


def read_toolbench_tree(document: Mapping[str, Any]) -> Iterator[Trace]:
    question = str(document["answer_generation"].get("query") or "")
    told: set[int] = set()
    for path in _paths(document["tree"]["tree"]):
        yield trace_of_steps(question, _steps(path, told), _outcome(document, path[-1]))


def _paths(root: Node) -> Iterator[list[Node]]:
    """All ways from the root to a leaf, the tree's own order kept."""
    waiting: list[tuple[Node, list[Node]]] = [(root, [])]
    while waiting:
        node, before = waiting.pop()
        path = [*before, node]
        children = node.get("children") or []
        if not children:
            yield path
        waiting += [(child, path) for child in reversed(children)]


def _steps(path: Sequence[Node], told: set[int]) -> Iterator[Step]:
    """Thoughts, then the action they lead to; `told` are thoughts that an earlier path holds."""
    thoughts: list[str] = []
    name = ""
    for node in path:
        text = str(node.get("description") or "")
        match node.get("node_type"):
            case "Thought":
                if id(node) not in told:
                    thoughts.append(text)
                told.add(id(node))
            case "Action":
                name = text
            case "Action Input" if name:
                observation = str(node.get("observation") or "")
                yield Step("\n".join(thoughts), name, text, observation)
                thoughts, name = [], ""
            case kind if kind not in KINDS and text:
                yield Step(repairs=(NO_CONTENT,))
    if thoughts or name:
        yield Step("\n".join(thoughts), name)


def _outcome(document: Mapping[str, Any], leaf: Node) -> Outcome | None:
    """Success is a path that gives the answer in a tree that was won; a pruned path, or one that gives up, failed."""
    if leaf.get("pruned") or GIVE_UP in str(leaf.get("description")):
        return Outcome.FAILURE
    if leaf.get("finished"):
        return Outcome.SUCCESS if document.get("win") is True else Outcome.FAILURE
    return None


def is_toolbench_chain(document: Any) -> bool:
    match document:
        case {
            "query": str(),
            "answer": {"answer_details": [{"role": str(), "message": _, "next": list()}, *_]},
        }:
            return True
    return False


def read_toolbench_chain(document: Mapping[str, Any]) -> Trace:
    turns: list[Turn] = []
    repairs: list[str] = []
    said, is_cut = "", False
    for node in _chain(document["answer"]["answer_details"]):
        message = str(node.get("message") or "")
        if node.get("role") == "assistant":
            turns += [Turn((said,), is_cut=is_cut)] if said else []
            said, is_cut = message.strip(), len(message) == CUT
        elif node.get("role") == "tool":
            name, arguments, response = _called(message)
            repairs += [UNPARSED] if is_broken(arguments) else []
            thoughts = (said,) if said else ()
            turns.append(Turn(thoughts, (action_of(name, arguments),), (response,), is_cut=is_cut))
            said, is_cut = "", False
        elif node.get("role") not in ROLES and message:
            repairs.append(NO_CONTENT)
    turns += [Turn((said,), is_cut=is_cut)] if said else []
    method = document["answer"].get("method")
    return Trace(
        document["query"].strip(),
        tuple(turns),
        model=method if isinstance(method, str) else "",
        repairs=tuple(repairs),
    )


def _chain(nodes: Sequence[Node]) -> Iterator[Node]:
    """Each node leads to the next; where there are several, they follow one another."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.get("next") or [])


class _Called(NamedTuple):
    name: str
    arguments: Any
    response: str


def _called(message: str) -> _Called:
    """A call as Python printed it, often cut off: its name, and as much of the rest as there is."""
    found = PRINTED.match(message)
    if found is None:
        return _Called("tool_call", {"raw": message}, "")
    return _Called(
        _literal(found["name"]),
        _literal(found["arguments"]),
        _literal(END.sub("", found["response"] or "")),
    )


def _literal(printed: str | None) -> str:
    """What Python printed between quotes, as it was before."""
    text = printed or ""
    quote = '"' if "'" in text.replace("\\'", "") else "'"
    try:
        value = ast.literal_eval(f"{quote}{text}{quote}")
    except (ValueError, SyntaxError, MemoryError):
        return text
    return str(value)
