"""Codes that work once: six digits of an authenticator (RFC 6238), and those to recover with."""

from __future__ import annotations

import secrets
from base64 import b32decode, b32encode
from hmac import compare_digest

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

STEP_S = 30
# Every authenticator app shows six digits; RFC 4226 asks for secrets of 160 bits.
_DIGITS = 6
_SECRET_BYTES = 20
# Clocks of telephones are a little off: one step to either side.
_DRIFT_STEPS = 1
RECOVERY_CODES = 10
# 80 bits each: too many to guess, even from the hash.
_RECOVERY_BYTES = 10
_GROUP = 4


def new_secret() -> str:
    """Return a secret as authenticators take it: base 32, 32 characters."""
    return b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def provisioning_uri(secret: str, name: str, issuer: str) -> str:
    """Return the `otpauth://` address that a QR code holds."""
    return _totp(secret).get_provisioning_uri(name, issuer)


def code_at(secret: str, at_s: float) -> str:
    """Return the six digits that an authenticator shows at a time."""
    return _totp(secret).generate(at_s).decode()


def matching_step(secret: str, code: str, at_s: float) -> int | None:
    """Return the step of time that a code belongs to, if it belongs to one near `at_s`.

    Whoever asks has to remember it: a code counts once, so that who overhears one cannot use it.
    """
    now = int(at_s // STEP_S)
    found = None
    for step in range(now - _DRIFT_STEPS, now + _DRIFT_STEPS + 1):
        # All are compared, so that the time reveals nothing.
        if compare_digest(code_at(secret, step * STEP_S), code):
            found = step
    return found


def new_recovery_codes() -> list[str]:
    """Return ten codes to print: `abcd-efgh-ijkl-mnop`."""
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def plain(code: str) -> str:
    """Return a code as it is compared: people leave out hyphens, or write them and spaces."""
    return "".join(code.split()).replace("-", "").lower()


def is_of_authenticator(code: str) -> bool:
    """Whether a plain code has the form of those that an authenticator shows."""
    return len(code) == _DIGITS and code.isascii() and code.isdigit()


def _new_recovery_code() -> str:
    text = b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))


def _totp(secret: str) -> TOTP:
    return TOTP(b32decode(secret), _DIGITS, SHA1(), STEP_S)  # as all of them do
