"""Input and output of the jobs app without the database: Valkey, objects, files, processes."""
