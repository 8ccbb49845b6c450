"""For all tests of the app: likeness is measured by shared words, so that no model is loaded."""

import pytest
from embedders import HashingEmbedder

from forethought.ui import fitted


@pytest.fixture(autouse=True)
def _quick_likeness(monkeypatch):
    monkeypatch.setattr(fitted, "make_embedder_beside", HashingEmbedder)
    fitted.embedder.cache_clear()
    yield
    fitted.embedder.cache_clear()
