"""Every write of notifications."""
