"""The values every layer shares, and how they are read, stored and written."""
