"""The launcher: runs PostgreSQL, Valkey, S3 and Atom's own processes on one machine."""
