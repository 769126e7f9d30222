"""Sending notifications by mail."""
