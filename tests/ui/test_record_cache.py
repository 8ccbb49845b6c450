"""An interrupted audit goes on."""

from forethought.ui.record_cache import RecordCache

FACTS = {"models": ["a", "b"], "texts": {"x": "y"}}


def record(turn: int) -> dict:
    return {"trace": "t", "turn": turn, "context_hash": "h", "lp": {"free": [0.5, -1.25]}}


def test_what_was_recorded_is_found_again(tmp_path):
    with RecordCache(tmp_path, FACTS).appending() as appender:
        appender.add(record(0))
        appender.add(record(1))

    assert list(RecordCache(tmp_path, FACTS).records.values()) == [record(0), record(1)]


def test_a_half_written_line_is_made_again_and_spoils_no_other(tmp_path):
    cache = RecordCache(tmp_path, FACTS)
    with cache.appending() as appender:
        appender.add(record(0))
    with cache.path.open("a", encoding="utf-8") as file:
        file.write('\n{"trace": "t", "tu')
    with RecordCache(tmp_path, FACTS).appending() as appender:
        appender.add(record(2))

    assert list(RecordCache(tmp_path, FACTS).records.values()) == [record(0), record(2)]


def test_other_texts_or_models_have_a_cache_of_their_own(tmp_path):
    with RecordCache(tmp_path, FACTS).appending() as appender:
        appender.add(record(0))

    assert RecordCache(tmp_path, FACTS | {"models": ["c"]}).records == {}
