"""Utility routing (LatentRouter, arXiv 2605.11301): the arm of the best predicted quality less lambda times its cost."""
