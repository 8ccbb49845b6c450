"""The splitter against json.loads: the same values, whatever the layout and wherever the window ends."""

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.data.formats import window as window_module
from forethought.data.formats.documents import Broken, Document, documents
from forethought.data.formats.window import Window

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    max_leaves=8,
)
INDENTS = st.sampled_from((None, 0, 1))


class Trickle(io.BytesIO):
    """A stream that gives a few bytes at a time, so that every token gets cut somewhere."""

    def read(self, size=-1):
        return super().read(min(size, 3) if size > 0 else size)


def is_marked(value):
    return isinstance(value, dict) and "run" in value


def values(path):
    found = list(documents(path, is_marked))
    assert all(isinstance(entry, Document) for entry in found), found
    assert [entry.position for entry in found] == list(range(1, len(found) + 1))
    return [entry.value for entry in found]


@given(JSON, INDENTS, st.booleans())
def test_a_value_read_in_trickles_is_what_json_makes_of_it(value, indent, is_ascii):
    text = json.dumps([value, value], indent=indent, ensure_ascii=is_ascii)
    window = Window(Trickle(text.encode()))
    window.take("[")
    first = window.value()
    window.take(",")
    assert [first.value, window.value().value] == [value, value]
    window.take("]")
    assert window.peek() == ""


@settings(deadline=None)
@given(st.lists(JSON.map(lambda value: {"run": value}), min_size=2), INDENTS)
def test_lines_array_and_keyed_object_hold_the_same_documents(tmp_path_factory, runs, indent):
    folder = tmp_path_factory.getbasetemp()
    lines, array, keyed = folder / "a.jsonl", folder / "b.json", folder / "c.json"
    lines.write_text("\n".join(json.dumps(run) for run in runs), "utf-8")
    array.write_text(json.dumps(runs, indent=indent), "utf-8")
    keyed.write_text(json.dumps(dict(enumerate(runs)), indent=indent), "utf-8")
    assert values(lines) == values(array) == values(keyed) == runs


def test_an_object_is_one_document_unless_its_members_are(tmp_path):
    file = tmp_path / "a.json"
    for whole in ({"info": {"a": 1}, "run": []}, {"a": {}, "b": {}}, {"run": {"run": 1}}, {}):
        file.write_text(json.dumps(whole))
        assert values(file) == ([{"run": 1}] if whole == {"run": {"run": 1}} else [whole])
    keyed = {"a": {}, "b": None, "c": {"run": 1}, "d": 5}
    file.write_text(json.dumps(keyed))
    assert values(file) == list(keyed.values())
    assert [entry.key for entry in documents(file, is_marked)] == list(keyed)


def test_a_single_document_longer_than_the_limit_is_broken(tmp_path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"run": "x" * 50, "b": "y" * 50}))
    (entry,) = documents(file, is_marked, max_bytes=60)
    assert isinstance(entry, Broken)
    assert entry.reason == "longer than 60 bytes"


def test_an_error_far_from_the_end_is_told_without_reading_on(tmp_path):
    stream = io.BytesIO(b'[{"a": tru}, ' + b" " * (10 * window_module.CHUNK))
    window = Window(stream)
    window.take("[")
    try:
        window.value()
    except window_module.Damage as damage:
        assert str(damage) == "not JSON: Expecting value at character 8"
    assert stream.tell() == window_module.CHUNK
