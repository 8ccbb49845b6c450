"""Proactive routing (PRP, arXiv 2606.30217): before anything is thought, how a turn is played, by what is known of its context."""
