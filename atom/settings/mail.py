"""Turns ATOM_EMAIL_URL into Django's settings of mail."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
_TIMEOUT_S = 10


@dataclass(frozen=True)
class MailSettings:
    """How mail is sent; without a host none is."""

    backend: str
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    use_tls: bool = False
    use_ssl: bool = False
    timeout_s: int = _TIMEOUT_S


def mail_from_url(url: str) -> MailSettings:
    """Read `smtp://user:password@host:587` (STARTTLS), `smtps://` (TLS) or `smtp+plain://` (none).

    An empty address sends nothing. Raises ValueError for another scheme or without a host.
    """
    if not url:
        return MailSettings("django.core.mail.backends.dummy.EmailBackend")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("ATOM_EMAIL_URL must look like smtp://user:password@host:587.")
    return MailSettings(
        "django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        use_tls=parts.scheme == "smtp",
        use_ssl=parts.scheme == "smtps",
    )
