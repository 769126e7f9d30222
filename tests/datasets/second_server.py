"""Another Atom: a process with its own database, bucket, Redis database, folder and secrets.

As a program it serves until its input ends; its first line of output says where, and for whom.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import django

from atom.dev.valkey import DATABASES
from atom.settings.environment import BASE_DIR

_DATABASE = "second_server"


@dataclass(frozen=True)
class SecondServer:
    """Where it listens, and the token of a researcher of its only project."""

    url: str
    token: str
    project: str


@contextmanager
def second_server(home: Path, bucket: str, template: str) -> Iterator[SecondServer]:
    """Run it over a bucket that is there, and a new database that looks like `template`."""
    from django.db import connection

    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE {_DATABASE} TEMPLATE "{template}"')
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "tests.datasets.second_server"],
            cwd=BASE_DIR,
            env={**os.environ, **_environment(home, bucket)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin
            assert process.stdout
            try:
                yield SecondServer(**json.loads(process.stdout.readline()))
            finally:
                process.stdin.close()
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {_DATABASE} WITH (FORCE)")


def _environment(home: Path, bucket: str) -> dict[str, str]:
    return {
        "DATABASE_URL": _sibling(os.environ["DATABASE_URL"], _DATABASE),
        # The last one; the tests' workers have the first ones.
        "REDIS_URL": _sibling(os.environ["REDIS_URL"], str(DATABASES - 1)),
        "S3_BUCKET": bucket,
        "ATOM_HOME": str(home),
        "ATOM_SECRET_KEY": secrets.token_hex(32),
        "DJANGO_SETTINGS_MODULE": "atom.settings.testing",
    }


def _sibling(url: str, name: str) -> str:
    return f"{url.rpartition('/')[0]}/{name}"


def main() -> None:
    """Serve until the input ends."""
    django.setup()
    from atom.accounts.actions import create_token
    from tests.factories.accounts import make_member, make_project
    from tests.jobs.live import serve

    project = make_project("elsewhere")
    user = make_member(project, "researcher", "somebody-else")
    token = create_token(user, "tests", ["write"]).secret
    with serve() as url:
        print(json.dumps(asdict(SecondServer(url, token, project.slug))), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
