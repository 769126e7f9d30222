"""A run's code: a snapshot of the working tree, or a commit that the server fetches."""
