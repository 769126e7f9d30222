"""Tells other programs what happened in a project, by HTTP (docs/webhooks.md)."""
