"""Where pods of clusters reach Atom."""

from __future__ import annotations

from django.conf import settings


def pod_api_url() -> str:
    """Return Atom's address as pods reach it."""
    return str(settings.ATOM_POD_API_URL or settings.ATOM_PUBLIC_URL).rstrip("/")
