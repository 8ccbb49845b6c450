"""What was priced is kept by model, place and text, whatever kills the program."""

import pytest

from forethought.data.errors import ForethoughtError
from forethought.ui.price_cache import PriceCache


def cache(folder, model="m"):
    return PriceCache(folder, "lp", model)


def keep(folder, place, prices, model="m"):
    with cache(folder, model).appending() as appender:
        appender.add(place, prices)


def test_what_was_priced_is_found_again_by_place_and_text(tmp_path):
    keep(tmp_path, "here", {"a": [0.5, -1.25], None: [0.0, 0.0]})
    found = cache(tmp_path)

    assert found.price("here", "a") == [0.5, -1.25]
    assert not found.lacks("here", None)
    assert found.lacks("here", "b")
    assert found.lacks("there", "a")


def test_later_texts_of_a_place_stand_beside_the_earlier_ones(tmp_path):
    keep(tmp_path, "here", {"a": 1.0})
    keep(tmp_path, "here", {"b": 2.0})
    found = cache(tmp_path)

    assert (found.price("here", "a"), found.price("here", "b")) == (1.0, 2.0)


def test_a_half_written_line_is_made_again_and_spoils_no_other(tmp_path):
    keep(tmp_path, "here", {"a": 1.0})
    with cache(tmp_path).path.open("a", encoding="utf-8") as file:
        file.write('\n{"place": "here", "prices": {"x_')
    keep(tmp_path, "there", {"a": 2.0})
    found = cache(tmp_path)

    assert (found.price("here", "a"), found.price("there", "a")) == (1.0, 2.0)


def test_lines_that_hold_something_else_are_passed_over(tmp_path):
    keep(tmp_path, "here", {"a": 1.0})
    with cache(tmp_path).path.open("a", encoding="utf-8") as file:
        file.write('\n[1]\n{"place": 3, "prices": {}}\n"text"\nnull')

    assert cache(tmp_path).price("here", "a") == 1.0


def test_another_model_knows_nothing_of_it(tmp_path):
    keep(tmp_path, "here", {"a": 1.0})

    assert cache(tmp_path, "other").lacks("here", "a")


def test_no_price_writes_no_line(tmp_path):
    keep(tmp_path, "here", {})

    assert cache(tmp_path).path.read_text("utf-8") == ""


def test_a_folder_that_cannot_be_written_is_a_plain_message(tmp_path):
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(ForethoughtError, match="FORETHOUGHT_CACHE"):
        keep(tmp_path / "file", "here", {"a": 1.0})
