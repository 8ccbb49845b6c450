"""Random commands, undo and redo against a plain list of candidates; the store's own check after each."""

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from forethought.data import commands
from forethought.data.candidates import Candidate, CandidateSet, Status
from forethought.data.commands import Edit, NewCandidate
from forethought.data.errors import InvalidCandidate, NothingToDo
from forethought.data.identity import candidate_id
from forethought.data.listing import CandidateFilter
from forethought.data.store import Store
from forethought.data.versions import restore_release

TEXTS = [f"I should do number {number}." for number in range(6)]
NUMBERS = st.integers(0, 20)
ONE = {
    Status.ACCEPTED: commands.accept,
    Status.REJECTED: commands.reject,
    Status.NEEDS_WORK: commands.needs_work,
}
NAMES = count()


def first_set() -> CandidateSet:
    return CandidateSet(
        "s",
        tuple(
            Candidate(
                candidate_id(text),
                text,
                ("search",),
                support=tuple(f"t_{number}:{turn}" for turn in range(3)),
                questions=1,
            )
            for number, text in enumerate(TEXTS[:4])
        ),
    )


def questions(support: tuple[str, ...]) -> int:
    return len({turn.partition(":")[0] for turn in support})


class Curation(RuleBasedStateMachine):
    """`states` are the sets of the model: undo and redo move in them, a command cuts off what lies ahead."""

    directory: str

    def __init__(self) -> None:
        super().__init__()
        self.store = Store.open(f"{self.directory}/{next(NAMES)}.db")
        self.place = 0

    @initialize()
    def begin(self):
        self.store.save_set(first_set())
        self.store.release("s", "", "ann")
        self.states = [list(first_set().candidates)]

    @property
    def model(self) -> list[Candidate]:
        return self.states[self.place]

    def member(self, number: int) -> Candidate:
        return self.model[number % len(self.model)]

    def edit(self, candidate: Candidate) -> Edit:
        version = self.store.candidate_set("s").get(candidate.id).version
        return Edit("s", candidate.id, version, "ann")

    def go_to(self, state: list[Candidate]) -> None:
        if state != self.model:
            self.states = [*self.states[: self.place + 1], state]
            self.place += 1

    def replaced(self, *candidates: Candidate) -> list[Candidate]:
        by_id = {candidate.id: candidate for candidate in candidates}
        return [by_id.get(candidate.id, candidate) for candidate in self.model]

    def try_to(self, command, state: list[Candidate]) -> None:
        """Carry out a command that is refused exactly where two members would read the same."""
        if len({candidate.text for candidate in state}) < len(state):
            with pytest.raises(InvalidCandidate, match="has this text already"):
                command()
        else:
            command()
            self.go_to(state)

    @precondition(lambda self: self.model)
    @rule(number=NUMBERS, status=st.sampled_from(list(ONE)))
    def decide(self, number, status):
        candidate = self.member(number)
        ONE[status](self.store, self.edit(candidate))
        self.go_to(self.replaced(replace(candidate, status=status)))

    @precondition(lambda self: self.model)
    @rule(numbers=st.sets(NUMBERS, min_size=1), status=st.sampled_from(list(Status)))
    def decide_many(self, numbers, status):
        chosen = {self.member(number).id: self.member(number) for number in numbers}
        edits = [self.edit(candidate) for candidate in chosen.values()]
        decided = commands.decide_many(self.store, "s", edits, status)
        assert decided.conflicts == ()
        assert set(decided.applied) == {id for id, c in chosen.items() if c.status is not status}
        self.go_to(self.replaced(*(replace(c, status=status) for c in chosen.values())))

    @precondition(lambda self: self.model)
    @rule(number=NUMBERS, text=st.sampled_from(TEXTS))
    def reword(self, number, text):
        candidate = self.member(number)
        edit = self.edit(candidate)
        state = self.replaced(replace(candidate, text=text))
        self.try_to(lambda: commands.reword(self.store, edit, text), state)

    @precondition(lambda self: self.model)
    @rule(number=NUMBERS, actions=st.lists(st.sampled_from(["search", "answer"]), unique=True))
    def expect(self, number, actions):
        candidate = self.member(number)
        commands.expect(self.store, self.edit(candidate), actions)
        self.go_to(self.replaced(replace(candidate, expected_actions=tuple(actions))))

    @precondition(lambda self: self.model)
    @rule(number=NUMBERS, position=st.integers(-1, 8))
    def move(self, number, position):
        candidate = self.member(number)
        commands.place(self.store, self.edit(candidate), position)
        state = [other for other in self.model if other.id != candidate.id]
        state.insert(max(position, 0), candidate)
        self.go_to(state)

    @rule(text=st.sampled_from(TEXTS), support=st.sets(st.integers(0, 3), max_size=2))
    def add(self, text, support):
        turns = tuple(f"t_{number}:9" for number in sorted(support))
        made: list[Candidate] = []

        def command() -> None:
            made.append(commands.add(self.store, "s", NewCandidate(text, turns), "ann"))
            state[-1] = replace(state[-1], id=made[0].id)

        new = Candidate("new", text, (), support=turns, questions=questions(turns))
        state = [*self.model, new]
        self.try_to(command, state)

    @precondition(lambda self: len(self.model) > 1)
    @rule(number=NUMBERS, others=st.sets(NUMBERS, min_size=1, max_size=3), data=st.data())
    def merge(self, number, others, data):
        kept = self.member(number)
        gone = [
            c for c in {self.member(n).id: self.member(n) for n in others}.values() if c != kept
        ]
        if not gone:
            return
        text = data.draw(st.sampled_from([None, gone[0].text]))
        turns = sorted({turn for c in gone for turn in c.support})
        excluded = data.draw(st.sets(st.sampled_from(turns), max_size=2)) if turns else set()
        joined = [t for c in gone for t in c.support if t not in excluded]
        support = tuple(dict.fromkeys([*kept.support, *joined]))
        names = [*kept.aliases, *(name for c in gone for name in (c.text, *c.aliases))]
        survivor = replace(
            kept,
            text=text or kept.text,
            support=support,
            questions=questions(support) if turns else kept.questions,
            expected_actions=tuple(
                dict.fromkeys(a for c in (kept, *gone) for a in c.expected_actions)
            ),
            aliases=tuple(n for n in dict.fromkeys(names) if n != (text or kept.text)),
        )
        edits = [self.edit(candidate) for candidate in gone]
        commands.merge(self.store, self.edit(kept), edits, text, excluded)
        ids = {candidate.id for candidate in gone}
        self.go_to([c for c in self.replaced(survivor) if c.id not in ids])

    @precondition(lambda self: self.model)
    @rule(
        number=NUMBERS,
        new=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True),
        keeps=st.booleans(),
    )
    def split(self, number, new, keeps):
        """The turns are dealt to the parts in turn."""
        whole = self.member(number)
        texts = [whole.text, *(t for t in new if t != whole.text)] if keeps else new
        if len(texts) < 2:
            return
        hands = [whole.support[start :: len(texts)] for start in range(len(texts))]
        parts = [NewCandidate(text, hand) for text, hand in zip(texts, hands, strict=True)]
        values = [
            Candidate(
                part.text,
                part.text,
                whole.expected_actions,
                support=part.support,
                questions=questions(part.support),
            )
            for part in parts
        ]
        left = replace(whole, status=Status.REJECTED)
        for index, value in enumerate(values):
            if value.text == whole.text:
                left = replace(whole, support=value.support, questions=value.questions)
                values[index] = left
        behind = [value for value in values if value is not left]
        at = self.model.index(whole)
        state = [*self.model[:at], left, *behind, *self.model[at + 1 :]]

        def command() -> None:
            made = commands.split(self.store, self.edit(whole), parts)
            ids = {part.text: part.id for part in made}
            for index, value in enumerate(state):
                if value in behind:
                    state[index] = replace(value, id=ids[value.text])

        self.try_to(command, state)

    @rule(number=NUMBERS)
    def restore(self, number):
        binned = self.store.candidates_page("s", CandidateFilter(in_bin=True)).candidates
        if not binned:
            return
        listed = binned[number % len(binned)]
        standing = {candidate.id: candidate for candidate in self.model}
        if listed.id in standing:
            back = replace(standing[listed.id], status=Status.PROPOSED)
            state = self.replaced(back)
        else:
            state = [*self.model, self.gone(listed.id)]
        self.try_to(lambda: commands.restore(self.store, "s", listed.id, "ann"), state)

    def gone(self, id: str) -> Candidate:
        """A candidate out of the set as its history has it, waiting for review if it was rejected."""
        columns: dict = {}
        for revision in self.store.revisions("s", id):
            columns |= revision.after
        status = Status(columns["status"])
        return Candidate(
            id,
            columns["text"],
            tuple(columns["expected_actions"]),
            Status.PROPOSED if status is Status.REJECTED else status,
            tuple(columns["support"]),
            columns["questions"],
            aliases=tuple(columns["aliases"]),
        )

    @rule()
    def restore_the_release(self):
        rejected = [c for c in self.model if c.status is Status.REJECTED]
        released = list(first_set().candidates)
        ids = {candidate.id for candidate in released}
        state = [*released, *(c for c in rejected if c.id not in ids)]
        if state == self.model:
            return

        def command() -> None:
            restore_release(self.store, "s", 1, "ann")

        self.try_to(command, state)

    @precondition(lambda self: self.model)
    @rule(number=NUMBERS)
    def comment(self, number):
        commands.comment(self.store, self.edit(self.member(number)), "well said")

    @rule()
    def undo(self):
        if self.place == 0:
            with pytest.raises(NothingToDo):
                commands.undo(self.store, "s", "ann")
        else:
            commands.undo(self.store, "s", "ann")
            self.place -= 1

    @rule()
    def redo(self):
        if self.place + 1 == len(self.states):
            with pytest.raises(NothingToDo):
                commands.redo(self.store, "s", "ann")
        else:
            commands.redo(self.store, "s", "ann")
            self.place += 1

    @invariant()
    def the_store_holds_what_the_model_holds(self):
        if hasattr(self, "states"):
            stored = self.store.candidate_set("s").candidates
            assert [replace(candidate, version=1) for candidate in stored] == self.model
            assert self.store.check() == []

    def teardown(self):
        self.store.close()


def test_any_commands_undo_and_redo_do_what_a_plain_list_does(tmp_path):
    Curation.directory = str(tmp_path)
    run_state_machine_as_test(
        Curation, settings=settings(max_examples=15, stateful_step_count=30, deadline=None)
    )
