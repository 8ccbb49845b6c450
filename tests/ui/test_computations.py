"""Work beside the key presses: once for a key, told while it runs, its error not swallowed."""

import threading

import pytest

from forethought.data.errors import NothingToDo
from forethought.ui.computations import Computations


def test_a_computation_is_carried_out_once_for_all_who_ask():
    done, all = [], Computations()
    for _ in range(3):
        assert all.ask("key", lambda report: done.append(1) or "value").result(5) == "value"

    assert done == [1]


def test_while_it_runs_there_is_no_value_but_a_stage():
    go_on, told = threading.Event(), threading.Event()

    def compute(report):
        report("reading")
        told.set()
        go_on.wait(5)
        return 1

    asked = Computations().ask("key", compute)
    told.wait(5)
    assert (asked.is_over, asked.result(), asked.stage) == (False, None, "reading")
    go_on.set()
    assert asked.result(5) == 1


def test_what_stopped_it_is_raised_for_who_asks_and_the_next_one_begins_anew():
    all, fails = Computations(), [True]

    def compute(report):
        if fails.pop():
            fails.append(False)
            raise NothingToDo("no thought")
        return "there"

    with pytest.raises(NothingToDo):
        all.ask("key", compute).result(5)
    assert all.ask("key", compute).result(5) == "there"


def test_only_so_many_results_are_kept():
    all = Computations(most=2)
    for key in range(5):
        all.ask(key, lambda report: None).result(5)
    all.ask(9, lambda report: None)

    assert all.look(0) is None
    assert all.look(4) is not None
