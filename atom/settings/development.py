"""One machine over plain HTTP: what `make up` and `make demo` run."""

import socket
from urllib.parse import urlsplit

from atom.settings.base import *  # noqa: F403
from atom.settings.base import ALLOWED_HOSTS as CONFIGURED_HOSTS
from atom.settings.base import ATOM_PUBLIC_URL, CSRF_TRUSTED_ORIGINS, ENV, SECRET_KEY

DEBUG = ENV.atom_debug
# The launcher generates a key; this one serves commands that run before it (makemigrations …).
SECRET_KEY = SECRET_KEY or "insecure-until-the-launcher-has-generated-one"
ALLOWED_HOSTS = CONFIGURED_HOSTS or [
    "localhost",
    "127.0.0.1",
    "[::1]",
    socket.gethostname(),
    urlsplit(ATOM_PUBLIC_URL).hostname or "localhost",
]
CSRF_TRUSTED_ORIGINS = [*CSRF_TRUSTED_ORIGINS, f"http://localhost:{ENV.atom_web_port}"]
