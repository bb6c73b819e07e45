"""Reads across models, for pages and reports."""
