"""Made-up runs of a search agent whose moves are known: first search, search again, next hop, answer."""

import random

from forethought.data.traces import Action, Outcome, Trace, Turn

NAMES = "Aldo Berta Cecil Dora Egon Frida Gustav Hedda Ivo Jutta Karl Lotte Moritz Nora Otto Paula".split()
PLACES = "Ulm Bonn Kiel Jena Gera Halle Worms Trier Celle Fulda Essen Passau".split()
AGAIN = (
    "The search result does not provide the information I need. I should try a different search."
)
ANSWER = "I have found the answer."
NEXT = "Now I need to search for the next part of the question."


def search(thought: str, query: str, observation: str) -> Turn:
    return Turn((thought,), (Action("search", {"input": query}),), (observation,))


def run(number: int) -> Trace:
    """Run `number`: two to four turns; every third has to search again, every fourth fails."""
    rng = random.Random(number)
    name, place, year = rng.choice(NAMES), rng.choice(PLACES), 1500 + number
    question = f"In which year did {name} of {place} build bridge number {number}?"
    turns = [search(f"I need to find out when {name} built bridge {number}.", f"{name} bridge", "")]
    if number % 3 == 0:
        turns.append(search(AGAIN, f"{name} {place} bridge {number}", f"{name} lived in {place}."))
    if number % 2 == 0:
        turns.append(search(NEXT, f"{place} bridge year", f"The bridge was built in {year}."))
    turns.append(Turn((ANSWER,), (Action("finish", {"input": str(year)}),), ("",)))
    outcome = Outcome.FAILURE if number % 4 == 3 else Outcome.SUCCESS
    return Trace(question, tuple(turns), outcome, "bridges")


def runs(count: int) -> list[Trace]:
    return [run(number) for number in range(count)]
