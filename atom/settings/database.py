"""Turns DATABASE_URL into Django's DATABASES entry."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

# How often a connection has sent a statement before PostgreSQL keeps its plan.
PREPARED_AFTER = 5


def database_from_url(
    url: str, pool_size: int = 0, kept_s: int = 0, patience_s: int = 0
) -> dict[str, Any]:
    """Return Django's settings for a `postgresql://user:password@host:port/name?option=…` URL.

    `kept_s` is for processes of one thread: how long a connection serves one task after the other.
    `patience_s` ends statements that take longer, for instance because they wait for a lock.
    Raises ValueError when the scheme is not PostgreSQL's or no database is named.
    """
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in {"postgres", "postgresql"} or not name:
        raise ValueError("DATABASE_URL must look like postgresql://user:password@host:5432/name.")
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    if patience_s:
        given = options.get("options", "")
        options["options"] = f"{given} -c statement_timeout={patience_s * 1000}".strip()
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
        # Only those of `atom.core.prepared_queries`: the ORM writes values into its own.
        options["prepare_threshold"] = PREPARED_AFTER
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "OPTIONS": options,
        # Under ASGI every request may use another thread, so connections are not kept per thread:
        # the web process has a pool.
        "CONN_MAX_AGE": kept_s,
        "CONN_HEALTH_CHECKS": kept_s > 0,
    }
