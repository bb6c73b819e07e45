"""The texts of the use-case pages, one Markdown file per page and language."""
