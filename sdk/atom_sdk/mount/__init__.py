"""Shows a version of a dataset as a folder. How: README.md."""
