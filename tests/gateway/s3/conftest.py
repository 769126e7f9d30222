"""The S3 endpoint on a real port, and a dataset to read through it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
import uvicorn
from botocore.config import Config
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from atom.accounts.actions import NewS3KeyPair, create_s3_key_pair
from atom.accounts.models import Project, User
from atom.gateway.s3.application import application
from tests.datasets.pushing import Pusher, class_files, png
from tests.factories.accounts import make_member, make_project

ODD_NAMES = (
    "odd/a b+c~(1)!'*.txt",
    "odd/100%.txt",
    "odd/空 白/图片 #1?.txt",
    "odd/é&=;,@$.txt",
    "odd/%2F%41.txt",
)


@dataclass(frozen=True)
class S3Address:
    """Where the endpoint listens."""

    url: str

    def client(self, key: NewS3KeyPair, **options: Any) -> Any:
        """Return boto3's client, path-style and without patience."""
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=options.pop("region", "us-east-1"),
            aws_access_key_id=options.pop("access_key_id", key.pair.access_key_id),
            aws_secret_access_key=options.pop("secret", key.secret),
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                retries={"max_attempts": 1},
            ),
        )


@dataclass(frozen=True)
class Shelf:
    """A project with `digits@v1`, and a key of its researcher."""

    pusher: Pusher
    key: NewS3KeyPair
    files: dict[str, bytes]

    @property
    def project(self) -> Project:
        """The project."""
        return self.pusher.project

    @property
    def user(self) -> User:
        """The researcher."""
        return self.pusher.user


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Address]:
    """The endpoint, served by uvicorn as in an installation."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, access_log=False, lifespan="off", log_level="warning")  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True
    )
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield S3Address(f"http://127.0.0.1:{listener.getsockname()[1]}")
    server.should_exit = True
    thread.join()


def fill_shelf(files: dict[str, bytes]) -> Shelf:
    """Push the files as `digits@v1` of a new project and make a key."""
    project = make_project()
    pusher = Pusher(project, make_member(project, "researcher")).create()
    pusher.push(files)
    return Shelf(pusher, create_s3_key_pair(pusher.user, "tests", project), files)


@pytest.fixture
def shelf(transactional_db: None) -> Shelf:
    """Three images in two folders, for tests that change something."""
    return fill_shelf({"a/1.png": png(1), "a/2.png": png(2), "b/3.png": png(3)})


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Shelf]:
    """Three classes of four images, an empty file, a large one, and names that are hard to sign.

    Pushed once for a whole module of tests that only read.
    """
    files = class_files() | {name: name.encode() for name in ODD_NAMES}
    files |= {"empty.bin": b"", "large.bin": bytes(range(256)) * (9 << 12)}
    with django_db_blocker.unblock():
        yield fill_shelf(files)
        connection.close()
        call_command("flush", verbosity=0, interactive=False)
