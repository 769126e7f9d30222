"""CSV: rows of paths and addresses; what is fetched, from where, and how much."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.downloads import DownloadLimits
from atom_sdk.importers.errors import AnnotationsUnreadableError, FormatUnknownError
from atom_sdk.importers.items import read_whole
from atom_sdk.importers.report import Report
from tests.sdk.importers.conftest import PNG, Look, write


class _Pictures(BaseHTTPRequestHandler):
    """/N.png has N bytes, /to?URL leads elsewhere, all else is missing."""

    requested: list[str]

    def do_GET(self) -> None:
        self.requested.append(self.path)
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path.partition("?")[2])
            self.end_headers()
            return
        size = self.path[1:].partition(".")[0]
        self.send_response(200 if size.isdigit() else 404)
        self.end_headers()
        self.wfile.write(b"x" * int(size) if size.isdigit() else b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    _Pictures.requested = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def imported(source: Path, **limits: object) -> tuple[dict[str, bytes], Report]:
    """Return what would be packed, and the report."""
    options = ImportOptions(downloads=DownloadLimits(**limits))  # type: ignore[arg-type]
    with Import(source, options, Silent())._collected() as (found, report):
        return {path: read_whole(blob) for path, blob in found.blobs.items()}, report


def test_rows_name_files_beside_the_csv(tmp_path: Path, look: Look) -> None:
    (tmp_path / "outside.png").write_bytes(PNG)
    text = (
        "path,label,split,camera,attributes\n"
        'a/1.png,cat,train,3,"{""lens"": {""mm"": 50}}"\n'
        "a/gone.png,cat,train,,\n"
        "../outside.png,cat,train,,\n"
        "link.png,cat,train,,\n"
        "2.png,,nightly,,\n"
        "2.png\n"
        "3.png,x,val,,[1]\n"
    )
    files = {"list.csv": text.encode(), "a/1.png": PNG, "2.png": PNG, "3.png": PNG}
    folder = write(tmp_path / "data", files)
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    with Import(folder / "list.csv", ImportOptions(), Silent())._collected() as (found, report):
        assert found.attributes == {"a/1.png": {"camera": 3, "lens": {"mm": 50}}}
        assert found.labels == {"a/1.png": "cat"}
        assert found.splits == {"a/1.png": "train"}
        assert list(found.blobs) == ["a/1.png", "2.png"]
    lines = [problem.subject.rpartition(" ")[2] for problem in report.problems]
    assert lines == ["3", "4", "5", "6", "7", "8"]
    # The folder with the CSV in it gives the same.
    assert look(folder).files == 2


def test_addresses_are_fetched_once_and_a_bad_row_stops_nothing(
    tmp_path: Path, server: ThreadingHTTPServer
) -> None:
    base = f"http://127.0.0.1:{server.server_port}"
    text = (
        "url,path,label\n"
        f"{base}/7.png,cats/7.png,cat\n"
        f"{base}/7.png?sig=secret,,cat\n"
        f"{base}/gone.png?sig=secret,,cat\n"
        f"{base}/9999.png,,cat\n"
        f"{base}/to?/5.png,five.png,dog\n"
        f"{base}/to?http://169.254.169.254/latest,meta.png,dog\n"
        f"{base}/to?{base}/to,loop.png,dog\n"
        "ftp://127.0.0.1/1.png,,dog\n"
    )
    source = write(tmp_path, {"urls.csv": text.encode()}) / "urls.csv"
    found, report = imported(source, allowed_hosts=("127.0.0.1",), file_bytes=1000)
    sizes = {path.partition("-")[0]: len(data) for path, data in found.items()}
    assert sizes == {"cats/7.png": 7, "7": 7, "five.png": 5}
    assert report.labels == {"cat": 2, "dog": 1}
    said = " ".join(problem.reason for problem in report.problems)
    for reason in ("404", "more than 0 MiB", "not public", "https:// or http://"):
        assert reason in said
    assert report.skipped_total == 5
    assert not any("secret" in problem.subject for problem in report.problems)


def test_private_addresses_are_refused_before_anything_is_asked(
    tmp_path: Path, server: ThreadingHTTPServer, look: Look
) -> None:
    text = f"url\nhttp://127.0.0.1:{server.server_port}/7.png\nhttp://[::1]/1.png\n"
    source = write(tmp_path, {"urls.csv": text.encode()}) / "urls.csv"
    found, report = imported(source)
    assert (found, _Pictures.requested) == ({}, [])
    assert all(problem.reason.endswith("not public") for problem in report.problems)
    dry = look(source)
    assert (dry.files, dry.notes) == (
        2,
        ["2 files would be downloaded; the size is not known yet"],
    )


def test_a_name_that_changes_after_the_check_leads_nowhere(
    tmp_path: Path, server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["93.184.216.34"])

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers, "127.0.0.1"), port))]

    text = f"url\nhttp://two-faced.example:{server.server_port}/7.png\n"
    source = write(tmp_path, {"urls.csv": text.encode()}) / "urls.csv"
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    found, report = imported(source)
    assert (found, _Pictures.requested) == ({}, [])
    assert ["two-faced.example is in a network" in row.reason for row in report.problems] == [True]


def test_what_was_fetched_stays_for_the_next_try(
    tmp_path: Path, server: ThreadingHTTPServer, look: Look
) -> None:
    text = f"url\nhttp://127.0.0.1:{server.server_port}/7.png\n"
    source = write(tmp_path, {"urls.csv": text.encode()}) / "urls.csv"
    options = ImportOptions(downloads=DownloadLimits(allowed_hosts=["127.0.0.0/8"]))
    for _ in range(2):
        with pytest.raises(RuntimeError), Import(source, options, Silent())._collected():
            raise RuntimeError("cut off")
        look(source)
    assert _Pictures.requested == ["/7.png"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"name,label\na,b\n", FormatUnknownError),
        (b"path,path\na,b\n", AnnotationsUnreadableError),
        (b'path,label\n"a', AnnotationsUnreadableError),
        (b"path\n\xff\n", AnnotationsUnreadableError),
    ],
)
def test_a_csv_that_is_none_is_an_error(
    text: bytes, error: type[Exception], tmp_path: Path, look: Look
) -> None:
    with pytest.raises(error):
        look(write(tmp_path, {"list.csv": text}) / "list.csv")


def test_a_row_with_an_address_that_is_none_is_named(tmp_path: Path, look: Look) -> None:
    files = {"t.csv": b"url,path\nhttp://[::1,\n,a.png\n", "a.png": b"a"}
    report = look(write(tmp_path / "csv", files))
    assert (report.files, report.skipped) == (1, {"its url is none": 1})
