"""Exports of a pushed version with symbolic links, from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from atom_sdk.client import Client
from tests.datasets.pushing import png

Atom = Callable[..., tuple[int, str, str]]


def test_exports_tell_of_links(client: Client, atom: Atom, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    (source / "cat").mkdir(parents=True)
    (source / "cat" / "a.png").write_bytes(png(1))
    for path, target in {"a.png": "cat/a.png", "pets": "cat", "host": "/etc/hostname"}.items():
        (source / path).symlink_to(target)
    client.datasets.push(source, "icons")

    code, said, err = atom("data", "export", "icons", str(out))
    assert code == 0, err
    assert "1 of 1 sample and 2 of 2 links written" in said
    assert "Not created: 1 link, such as host" in said
    assert "export again with --unsafe-links" in said
    assert (os.readlink(out / "a.png"), os.readlink(out / "pets")) == ("cat/a.png", "cat")
    code, said, err = atom("data", "export", "icons", str(out), "--unsafe-links")
    assert "0 of 1 sample and 1 of 3 links written" in said, err
    assert os.readlink(out / "host") == "/etc/hostname"

    shards = ("data", "export", "icons", str(tmp_path / "tars"), "--format", "webdataset")
    code, said, err = atom("--json", *shards)
    assert code == 0, err
    answer = json.loads(said)
    assert (answer["samples"], answer["links"]) == (2, 0)
    assert [left["path"] for left in answer["left_out"]] == ["host", "pets"]
    assert Path(answer["left_out_file"]).read_text().count("\n") == 2
    _, said, _ = atom(*shards)
    assert "Not created: 2 links" in said
    assert "again" not in said
    code, _, err = atom(*shards, "--unsafe-links")
    assert (code, "--format folder only" in err) == (2, True)
