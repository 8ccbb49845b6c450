"""Run records made elsewhere: read as records of our own, and their figures reckoned again."""
