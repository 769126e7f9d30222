"""Requests that tests of writers make of a client."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner

from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client


def files_of(client: Client, reference: str) -> dict[str, bytes]:
    """Return what a version holds, as a reader sees it."""
    return {sample.path: bytes(sample.data) for sample in client.datasets.open(reference)}


def rows_of(client: Client, reference: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a version by path."""
    return {row["path"]: row for row in client.datasets.entries(reference)}


def command(client: Client, *words: str) -> Any:
    """Run `atom data writer …` and return its JSON."""
    context = Context()
    context._client = client
    done = CliRunner().invoke(cli, ["--json", "data", "writer", *words], obj=context)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def writer_row(client: Client, writer_id: str) -> dict[str, Any]:
    """Return a writer as the API answers it."""
    found = client.datasets.writers("digits", only_open=False)
    return next(row for row in found if row["id"] == writer_id)
