"""A dataset is copied between two servers that share nothing, and needs nothing of the first."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atom.core import storage
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from tests.databases import TEMPLATE
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, png
from tests.datasets.second_server import SecondServer, second_server

FILES = {"0/a.png": png(1), "1/b.png": png(2)}


@pytest.fixture
def there(client: Client, tmp_path: Path) -> Iterator[SecondServer]:
    """Another Atom, of which this one knows nothing."""
    with second_server(tmp_path / "second", Bucket().name, TEMPLATE) as found:
        yield found


def rows_of(client: Client, reference: str) -> list[tuple[Any, ...]]:
    """Return what is said of the files of a version."""
    names = ("path", "size_bytes", "digest", "label", "split")
    return [tuple(row.get(name) for name in names) for row in client.datasets.entries(reference)]


def history_of(client: Client, name: str) -> dict[str, Any]:
    """Return everything of a dataset's history but the dataset's name and who moved what when."""
    found = dict(client.http.get(f"{client.datasets.base(name)}archive/"))
    del found["dataset"]
    named = ("branch", "seq", "kind", "old", "new")
    moves = [tuple(move[name] for name in named) for move in found["moves"]]
    return {**found, "moves": moves}


def test_a_copy_on_another_server_needs_nothing_of_the_first(
    pusher: Pusher, client: Client, there: SecondServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pusher.push(FILES, labels_from="folder", provenance={"labels_from": "folder"})
    pusher.push({"1/c.png": png(3)}, split={"test": 1, "seed": 1})
    pusher.post("branches/", {"name": "side", "at": "v1"})
    pusher.post("tags/", {"name": "kept", "at": "v1"})
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    monkeypatch.setenv("THEIRS", there.token)

    def copy() -> dict[str, Any]:
        words = ["data", "copy-to", "digits", there.url, f"{there.project}/copied"]
        with closing(Context()) as context:
            done = CliRunner().invoke(cli, [*words, "--token-env", "THEIRS", "--json"], obj=context)
        assert done.exit_code == 0, (done.output, done.exception)
        return dict(json.loads(done.stdout))

    with Client(there.url, there.token, there.project) as second:
        for url, token in ((there.url, client.config.token), (client.config.url, there.token)):
            with Client(url, token, there.project) as stranger, pytest.raises(ApiError) as refused:
                next(stranger.datasets.list())
            assert refused.value.status == 401
        assert copy()["versions"] == 2
        pusher.push({"1/d.png": png(4)}, branch="side")
        assert copy()["versions"] == 3

        assert history_of(second, "copied") == history_of(client, "digits")
        for ref in ("v1", "v2", "side", "kept"):
            assert rows_of(second, f"copied@{ref}") == rows_of(client, f"digits@{ref}")

        objects = storage.objects()
        for found in objects.list_prefix(storage.project_prefix(pusher.project)):
            objects.delete(found.key)
        monkeypatch.setenv("ATOM_CACHE", f"{os.environ['ATOM_CACHE']}-of-another-machine")
        dataset = second.datasets.open("copied@v2")
        assert {one.path: bytes(one.data) for one in dataset} == {**FILES, "1/c.png": png(3)}
