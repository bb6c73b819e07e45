"""Jobs and answers as plain values, the same for pages, the API and the command line."""
