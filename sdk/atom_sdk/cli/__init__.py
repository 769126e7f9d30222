"""The command `atom`."""
