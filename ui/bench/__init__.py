"""Benchmarks in several modes: what is asked, played, kept and reported."""
