"""One file a step, named after its number; never edited once released."""
