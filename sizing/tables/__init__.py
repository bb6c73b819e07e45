"""The tables of figures with their sources, and how they are read."""
