"""Every write of webhooks and their deliveries."""
