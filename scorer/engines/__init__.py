"""Scorers of one protocol: the model of this process, and models that another program serves."""
