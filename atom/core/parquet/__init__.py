"""The schema and the first rows of a Parquet file, read by a process of its own."""
