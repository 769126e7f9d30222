"""Every write of LabelX, one verb function per use case."""
