"""Each kind of source, and the addresses that none may have."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atom.core.errors import Invalid
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import (
    SourceAddressRefused,
    SourceChanged,
    SourceError,
    SourceFolderRefused,
)
from atom.datasets.sources.pipelines.addresses import check_url
from atom.datasets.sources.pipelines.folder import FolderReader
from atom.datasets.sources.pipelines.http_list import HttpListReader
from atom.datasets.sources.pipelines.objects import Shard, SourceObject, SourceReader
from atom.datasets.sources.pipelines.patience import Patience
from atom_sdk.manifests.pins import Pin
from tests.datasets.buckets import Moody

FILES = {"a-b.txt": b"1", "a/c.txt": b"22", "a/d/e.txt": b"333", "z.txt": b"4444"}
LISTED = {"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT", "ETag": '"one"'}


def listed(reader: SourceReader, after: str = "") -> list[SourceObject]:
    return [found for page in reader.pages(Shard(""), after) for found in page]


def pin_of(found: SourceObject) -> Pin:
    return Pin("s", found.key, found.size_bytes, found.version_id, found.etag, found.mtime)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "allowed" / "data"
    for path, data in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def of_folder(folder: Path) -> FolderReader:
    return FolderReader(SourceSpec("s", f"file://{folder}"), [str(folder.parent)])


def test_a_folder_is_listed_in_the_order_of_whole_paths(folder: Path) -> None:
    reader = of_folder(folder)
    found = listed(reader)
    assert [(one.key, one.size_bytes) for one in found] == [
        (path, len(data)) for path, data in sorted(FILES.items())
    ]
    assert [one.key for one in listed(reader, "a/c.txt")] == ["a/d/e.txt", "z.txt"]
    assert reader.read(pin_of(found[2]), 1, 3) == b"33"


@pytest.mark.parametrize("change", ["rewrite", "replace", "remove", "link"])
def test_a_file_that_changed_is_not_read(folder: Path, change: str) -> None:
    reader = of_folder(folder)
    pin = pin_of(next(one for one in listed(reader) if one.key == "z.txt"))
    target = folder / "z.txt"
    target.unlink()
    if change in {"rewrite", "replace"}:
        target.write_bytes(b"5555" if change == "rewrite" else b"55555")
    if change == "link":
        target.symlink_to(folder / "a-b.txt")
    with pytest.raises(SourceChanged, match=r"z\.txt"):
        reader.read(pin, 0, 4)


def test_no_link_leads_out_of_a_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_bytes(b"s")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "file").symlink_to(tmp_path / "secret" / "key")
    os.mkfifo(folder / "pipe")
    reader = of_folder(folder)
    assert [one.key for one in listed(reader)] == sorted(FILES)
    for key in ("out/key", "file", "../../secret/key", "pipe"):
        with pytest.raises((SourceError, SourceChanged)):
            reader.read(Pin("s", key, 1), 0, 1)


@pytest.mark.parametrize("place", ["", "/etc"])
def test_only_allowed_folders(folder: Path, place: str) -> None:
    spec = SourceSpec("s", f"file://{folder.parent / place if place else folder.parent.parent}")
    with pytest.raises(SourceFolderRefused):
        FolderReader(spec, [str(folder.parent)])


def test_a_path_with_a_way_back_is_no_matter_for_the_administrator(folder: Path) -> None:
    spec = SourceSpec("s", f"file://{folder.parent}/../other")
    with pytest.raises(Invalid) as failed:
        FolderReader(spec, [str(folder.parent)])
    assert failed.value.errors == {"url": ["Give the whole path of the folder."]}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:9000/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.1.2.3/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://100.64.0.1/",
        "ftp://8.8.8.8/",
        "http://user:word@8.8.8.8/",
        "http:///x",
        "http://8.8.8.8/a\r\nHost: x",
        "http://8.8.8.8/\x07",
        "nonsense",
    ],
)
def test_addresses_that_no_source_may_have(url: str) -> None:
    with pytest.raises(SourceAddressRefused):
        check_url(url, [])


def test_every_address_of_a_name_must_be_public(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("192.168.0.1", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(SourceAddressRefused):
        check_url("https://two-faced.example/", [])
    check_url("https://two-faced.example/", ["192.168.0.0/16"])
    check_url("https://two-faced.example/", ["Two-Faced.example"])


@pytest.fixture
def server() -> Iterator[Moody]:
    found = Moody("http://unused")
    yield found
    found.close()


def of_list(server: Moody) -> HttpListReader:
    quick = Patience(tries=3, first_wait_s=0.01)
    spec = SourceSpec("s", f"{server.url}/data/list.txt")
    return HttpListReader(spec, ["127.0.0.1"], quick)


def test_a_list_names_files_below_it(server: Moody) -> None:
    answers = {
        "/data/list.txt": (200, f"# pets\na%20b.txt\n\n{server.url}/data/c.txt\ngone.txt\n", {}),
        "/data/a%20b.txt": (200, "hello", LISTED),
        "/data/c.txt": (200, "x", LISTED),
        "/data/gone.txt": (404, "", {}),
    }
    server.mood = lambda path: answers[path]
    reader = of_list(server)
    found = listed(reader)
    assert [(one.key, one.size_bytes) for one in found] == [("a b.txt", 5), ("c.txt", 1)]
    assert reader.read(pin_of(found[0]), 1, 3) == b"el"
    answers["/data/a%20b.txt"] = (200, "jello", LISTED | {"ETag": '"two"'})
    with pytest.raises(SourceChanged):
        reader.read(pin_of(found[0]), 1, 3)


@pytest.mark.parametrize(
    ("line", "headers"),
    [
        ("http://169.254.169.254/x", LISTED),
        ("../up.txt", LISTED),
        ("a.txt?token=1", LISTED),
        ("a.txt", {}),
    ],
)
def test_a_list_that_leads_elsewhere_or_cannot_be_pinned(
    server: Moody, line: str, headers: dict[str, str]
) -> None:
    server.mood = lambda path: (200, line if path.endswith("list.txt") else "x", headers)
    with pytest.raises(SourceError):
        listed(of_list(server))
