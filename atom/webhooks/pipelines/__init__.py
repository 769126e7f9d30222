"""Sending, without the ORM."""
