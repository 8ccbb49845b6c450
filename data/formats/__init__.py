"""Agents' traces out of files: the table of formats, and the reader that goes by it."""

from .outcome_file import OutcomeFile, read_outcomes
from .reader import Quarantined, Skipped, read_traces
from .table import FORMATS, TraceFormat

__all__ = [
    "FORMATS",
    "OutcomeFile",
    "Quarantined",
    "Skipped",
    "TraceFormat",
    "read_outcomes",
    "read_traces",
]
