"""Behind TLS, with secrets from outside. Refuses to start with a missing secret."""

from django.core.exceptions import ImproperlyConfigured

from atom.settings.base import *  # noqa: F403
from atom.settings.base import ALLOWED_HOSTS, ATOM_ENCRYPTION_KEY, SECRET_KEY

for name, value in {
    "ATOM_SECRET_KEY": SECRET_KEY,
    "ATOM_ENCRYPTION_KEY": ATOM_ENCRYPTION_KEY,
    "ATOM_ALLOWED_HOSTS": ALLOWED_HOSTS,
}.items():
    if not value:
        raise ImproperlyConfigured(f"Set {name} (or {name}_FILE) before starting Atom.")

SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
# Probes come over plain HTTP from inside the cluster.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
