"""Models by their dimensions: from the table, a config.json, by hand, or a size alone."""
