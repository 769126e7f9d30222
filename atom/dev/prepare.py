"""Brings the database and the static files up to date (`python -m atom.dev.prepare`).

One process for all of it: each start of Django costs a second.
"""

import os
import sys

import django
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.management import call_command

from atom.dev.seaweed import ensure_bucket, make_client


def main() -> None:
    """Migrate, create the administrator, collect static files."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")
    django.setup()
    call_command("migrate", interactive=False, verbosity=1)
    call_command("ensure_admin")
    call_command("collectstatic", interactive=False, verbosity=0)
    prepare_object_store()


def prepare_object_store() -> None:
    """Create the bucket and its CORS rule, also in a store that is not ours.

    Such a store may forbid it; then its owner has to, and this only says so.
    """
    client = make_client(
        settings.S3_ENDPOINT_URL, settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY
    )
    try:
        ensure_bucket(client, settings.S3_BUCKET)
    except (ClientError, BotoCoreError) as error:
        print(
            f"Could not prepare the bucket {settings.S3_BUCKET}: {error}. "
            "Create it, with a CORS rule for GET, PUT and HEAD, or give Atom a key that may.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
