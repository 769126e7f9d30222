"""The REST API of LabelX."""
