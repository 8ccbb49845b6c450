"""Candidate sets and labelled turns as the files that training runs read; `dialects.py` is the table."""
