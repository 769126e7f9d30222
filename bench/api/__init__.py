"""How long requests to the API take, within one process."""
