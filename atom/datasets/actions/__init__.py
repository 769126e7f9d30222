"""Every write of the datasets app, one verb function per use case."""
