"""Pure functions: digests of file sets, evaluation documents, lineage graphs."""
