"""The calculator: what a job needs, on which cards, at what price, and why."""
