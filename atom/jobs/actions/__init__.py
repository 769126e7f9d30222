"""Every write of the jobs app, one verb function per use case."""
