"""REST API of notifications."""
