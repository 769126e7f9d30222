"""Which user names are a program's: a service account is called `name@project`."""

from __future__ import annotations


def is_of_program(username: str) -> bool:
    """Return whether a name has the form of a service account's; an e-mail address has not."""
    name, at, place = username.rpartition("@")
    return bool(at and name and place) and "." not in place
