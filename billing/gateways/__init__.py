"""Everything billing says to the outside world. One module per partner; each returns our own types."""
