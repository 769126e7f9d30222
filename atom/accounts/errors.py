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


class BadToken(NotAuthenticated):
    """A bearer token that is nobody's; whether it ever was is not told."""

    code = "bad_token"
    title = "The API token is wrong, expired or revoked."
    action = "Make a new one in the portal under Access tokens, and send that."
