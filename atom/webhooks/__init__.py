"""Webhooks: notify other programs of events in a project, by HTTP (docs/webhooks.md)."""
