"""Measurements of the parts whose speed matters. Each prints one JSON object a line."""
