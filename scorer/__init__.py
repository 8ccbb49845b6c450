"""Likelihoods of candidates after a context, selection, and the audit of a set."""
