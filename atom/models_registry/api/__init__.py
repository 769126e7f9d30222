"""The REST API of the registry."""
