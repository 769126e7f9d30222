"""Tests: real services (see tests/services.py), cheap password hashes, tasks run in place."""

import os

from atom.settings.base import *  # noqa: F403
from atom.settings.base import ENV, SECRET_KEY
from atom.settings.logs import logging_settings
from atom.settings.rates import parse_rate

SECRET_KEY = SECRET_KEY or "only-for-tests-0123456789-0123456789-0123456789"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# Argon2 costs 30 ms a user on purpose; a test's users need no protection.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Tests request each route without signing in, from one address, at a high rate.
ATOM_RATE_ANONYMOUS = parse_rate("1000/s:10000")
# On a machine that is busy with tests nothing is ever well: limits that are off would be no test.
ATOM_RATE_TIMEOUT_S = 30.0
ATOM_PROBE_WITHIN_S = 30.0
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
CRASH_POINT = os.environ.get("ATOM_CRASH_POINT", "")
LOGGING = logging_settings("WARNING", "console")
ATOM_ENCRYPTION_KEY = ENV.atom_encryption_key.get_secret_value() or (
    "YXRvbS10ZXN0cy1vbmx5LWVuY3J5cHRpb24ta2V5LTA="
)
