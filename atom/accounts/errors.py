"""Failures of signing in."""

from atom.core.errors import NotAuthenticated, Throttled


class BadCredentials(NotAuthenticated):
    """Wrong name or password; which of the two is not told."""

    code = "bad_credentials"
    title = "The name or the password is wrong."
    action = "Check both and try again."


class TooManyAttempts(Throttled):
    """Too many wrong passwords from one address."""

    code = "too_many_attempts"
    title = "Too many failed attempts to sign in."
    action = "Wait five minutes, then try again."
