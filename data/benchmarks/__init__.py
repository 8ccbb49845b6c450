"""Benchmarks' questions out of files: the table of benchmarks, and the readers that go by it."""

from .question import ImageResult, ImageSource, Question, Unusable
from .recorded_runs import questions_of_traces, truths_of_fireact
from .table import BENCHMARKS, Benchmark, Benchmarked, read_benchmark

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Benchmarked",
    "ImageResult",
    "ImageSource",
    "Question",
    "Unusable",
    "questions_of_traces",
    "read_benchmark",
    "truths_of_fireact",
]
