"""Traces whose moves and topics are known: every move is made on every topic, with fresh names and changing words."""

import random
from typing import NamedTuple

from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

TOPICS = {
    "films": ("film", "director", "actor", "premiere", "studio", "screenplay"),
    "rivers": ("river", "estuary", "tributary", "basin", "delta", "bridge"),
    "chemistry": ("compound", "catalyst", "reaction", "isotope", "solvent", "polymer"),
    "football": ("club", "striker", "league", "stadium", "manager", "transfer"),
    "music": ("album", "singer", "band", "guitarist", "label", "concert"),
    "plants": ("genus", "species", "flower", "root", "seed", "botanist"),
}
MOVES = {  # kind of action, and wordings: N a name, D a detail of the topic
    "first": (
        "search",
        (
            "I need to search for the D of N.",
            "First I need to search for the D of N.",
            "I should search for the D of N first.",
        ),
    ),
    "refine": (
        "search",
        (
            "The results do not mention the D. I should try a different search.",
            "The results say nothing about the D of N. I should try a different search.",
            "No D of N in the results. I should try a different search.",
        ),
    ),
    "examine": (
        "open",
        (
            "The page of N looks right. I will open the whole page.",
            "This page may hold the D. I will open the whole page.",
            "The D could stand further down. I will open the whole page.",
        ),
    ),
    "answer": (
        "answer",
        (
            "I have the D of N now, so I can give the final answer.",
            "The D is N, so I can give the final answer.",
            "That settles the D, so I can give the final answer.",
        ),
    ),
}
SYLLABLES = ("ka", "lo", "mi", "ren", "tas", "vor", "zel", "dun", "bry", "quo", "fen", "sil")


class Planted(NamedTuple):
    """Traces, and what was planted in each turn, by its id."""

    traces: list[Trace]
    moves: dict[str, str]
    topics: dict[str, str]


def planted(count: int, seed: int = 0, moves: tuple[str, ...] = tuple(MOVES)) -> Planted:
    """`count` runs over the topics in turn, each making every move once, in order."""
    rng = random.Random(seed)
    found = Planted([], {}, {})
    for number in range(count):
        topic = list(TOPICS)[number % len(TOPICS)]
        trace = _run(rng, topic, moves, number)
        found.traces.append(trace)
        for index, move in enumerate(moves):
            found.moves[turn_id(trace.id, index)] = move
            found.topics[turn_id(trace.id, index)] = topic
    return found


def _run(rng: random.Random, topic: str, moves: tuple[str, ...], number: int) -> Trace:
    name, detail = _name(rng), rng.choice(TOPICS[topic])
    turns = []
    for move in moves:
        kind, wordings = MOVES[move]
        text = rng.choice(wordings).replace("N", name).replace(" D", f" {detail}")
        other = rng.choice(TOPICS[topic])
        turns.append(
            Turn(
                (text,), (Action(kind, {"input": f"{name} {other}"}),), (f"{name} has a {other}.",)
            )
        )
    question = f"What is the {detail} of {name} {number}?"
    return Trace(question, tuple(turns), Outcome.SUCCESS, "planted", "test", "f.json", number)


def _name(rng: random.Random) -> str:
    return "".join(rng.sample(SYLLABLES, 3)).capitalize()
