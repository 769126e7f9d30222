"""Which runs a queue takes. Pure."""
