"""What is decided before a turn is thought: which arm plays it. Nothing here is imported by whoever only selects."""
