"""Every write of the cache."""
