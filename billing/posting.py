"""Balanced legs for each business act. Pure: standard library only."""
