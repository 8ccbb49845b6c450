"""A person at an editable grid of an AppTest, which has no such thing: cells are changed as a browser says it."""

import json
from collections.abc import Mapping
from typing import Any

from streamlit.testing.v1 import AppTest


def shown_rows(at: AppTest) -> list[dict[str, Any]]:
    """The rows of the first grid as it was drawn."""
    return at.dataframe[0].value.to_dict("records")


def edit_cells(at: AppTest, edited_rows: Mapping[int, Mapping[str, Any]]) -> AppTest:
    """Run again with all that was edited since the first grid was drawn: place -> column -> value."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = at.dataframe[0].proto.id
    said = {"edited_rows": edited_rows, "added_rows": [], "deleted_rows": []}
    state.string_value = json.dumps(said)
    return at._run(states)


def place_of(at: AppTest, text: str) -> int:
    """Where a text stands in the first grid."""
    return [row["text"] for row in shown_rows(at)].index(text)
