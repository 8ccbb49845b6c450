"""Agents' traces out of files: the table of formats, and the reader that goes by it."""

from .reader import Quarantined, Skipped, read_traces
from .table import FORMATS, TraceFormat

__all__ = ["FORMATS", "Quarantined", "Skipped", "TraceFormat", "read_traces"]
