"""Traces in, a candidate set out: mask, embed, cluster, phrase, choose, assign."""
