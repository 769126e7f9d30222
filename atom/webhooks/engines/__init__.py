"""Pure rules of webhooks."""
