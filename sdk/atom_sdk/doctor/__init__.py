"""Looks at an installation, from a client or on a server's machine, and says what to do."""
