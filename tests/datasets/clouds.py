"""Azure Blob, Google Cloud Storage and WebHDFS as far as a reader meets them: none is ours."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256

PAGE = 2
NOW_S = 1_700_000_000


@dataclass(frozen=True)
class SeenRequest:
    """A request as it came."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Served:
    """An HTTP server; `trouble(request)` answers before `answer` is asked, or returns None."""

    def __init__(self, answer: Callable[[SeenRequest], Reply]) -> None:
        self.seen: list[SeenRequest] = []
        self.trouble: Callable[[SeenRequest], Reply | None] = lambda asked: None
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = SeenRequest(self.command, self.path, headers, self.rfile.read(length))
                served.seen.append(asked)
                reply = served.trouble(asked) or answer(asked)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            do_POST = do_GET  # noqa: N815  # the base class's name

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def ranged(data: bytes, header: str, headers: Mapping[str, str]) -> Reply:
    """Return the part that `bytes=a-b` means."""
    first, _, last = header.removeprefix("bytes=").partition("-")
    start, end = int(first), min(int(last) + 1, len(data))
    told = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}", **headers}
    return Reply(206, data[start:end], told)


class Store:
    """Objects by name, with something that changes with every write."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.writes = dict.fromkeys(files, 1)

    def put(self, name: str, data: bytes) -> None:
        self.files[name] = data
        self.writes[name] = self.writes.get(name, 0) + 1

    def state(self, name: str) -> int:
        return 1000 * self.writes[name] + zlib.crc32(name.encode()) % 1000

    def level(self, query: Mapping[str, str], start: str) -> list[str]:
        """Return names and common prefixes from `start` on, in order."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        found = set()
        for name in self.files:
            if name.startswith(prefix):
                rest, slash, _ = name[len(prefix) :].partition(delimiter or "\0")
                found.add(prefix + rest + slash)
        return sorted(name for name in found if name >= start)


class FakeAzure(Store):
    """One container of the account `acct`, below the address of an emulator."""

    def answer(self, asked: SeenRequest) -> Reply:
        if "authorization" not in asked.headers and asked.query.get("sig") != "s+/=":
            return Reply(403, headers={"x-ms-error-code": "AuthenticationFailed"})
        if asked.query.get("comp") == "list":
            return self._list(asked.query)
        name = asked.path.removeprefix("/acct/data/")
        if name not in self.files:
            return Reply(404, headers={"x-ms-error-code": "BlobNotFound"})
        told = self._object_headers(name)
        if asked.headers.get("if-match", told["ETag"]) != told["ETag"]:
            return Reply(412, headers={"x-ms-error-code": "ConditionNotMet"})
        return ranged(self.files[name], asked.headers["x-ms-range"], told)

    def _object_headers(self, name: str) -> dict[str, str]:
        at = formatdate(NOW_S + self.writes[name], usegmt=True)
        return {"ETag": f'"0x{self.state(name):X}"', "Last-Modified": at}

    def _list(self, query: Mapping[str, str]) -> Reply:
        names = self.level(query, query.get("marker", ""))
        rows = "".join(self._row(name) for name in names[:PAGE])
        marker = names[PAGE] if len(names) > PAGE else ""
        text = f"<Blobs>{rows}</Blobs><NextMarker>{escape(marker)}</NextMarker>"
        return Reply(200, f"\ufeff<EnumerationResults>{text}</EnumerationResults>".encode())

    def _row(self, name: str) -> str:
        if name not in self.files:
            return f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>"
        told = self._object_headers(name)
        return (
            f"<Blob><Name>{escape(name)}</Name><Properties>"
            f"<Content-Length>{len(self.files[name])}</Content-Length>"
            f"<Last-Modified>{told['Last-Modified']}</Last-Modified>"
            f"<Etag>{told['ETag'].strip(chr(34))}</Etag></Properties></Blob>"
        )


class FakeGoogle(Store):
    """The bucket `data`, for who has a token of the key's."""

    def __init__(self, files: Mapping[str, bytes], key: RSAPrivateKey) -> None:
        super().__init__(files)
        self.key = key

    def answer(self, asked: SeenRequest) -> Reply:
        if asked.path == "/token":
            return self._token(asked)
        if asked.headers.get("authorization") != "Bearer of-google":
            return Reply(401)
        base = "/storage/v1/b/data/o"
        if asked.path == base:
            return self._list(asked.query)
        name = asked.path.removeprefix(f"{base}/")
        if name not in self.files or asked.query["generation"] != str(self.state(name)):
            return Reply(404)
        told = {"x-goog-generation": str(self.state(name))}
        return ranged(self.files[name], asked.headers["range"], told)

    def _token(self, asked: SeenRequest) -> Reply:
        assertion = dict(parse_qsl(asked.body.decode()))["assertion"]
        signed, _, signature = assertion.rpartition(".")
        raw = base64.urlsafe_b64decode(signature + "==")
        self.key.public_key().verify(raw, signed.encode(), PKCS1v15(), SHA256())
        return Reply(200, json.dumps({"access_token": "of-google", "expires_in": 3600}).encode())

    def _list(self, query: Mapping[str, str]) -> Reply:
        names = self.level(query, query.get("pageToken", query.get("startOffset", "")))
        page: dict[str, Any] = {"prefixes": [n for n in names[:PAGE] if n not in self.files]}
        page["items"] = [
            {
                "name": name,
                "size": str(len(self.files[name])),
                "generation": str(self.state(name)),
                "updated": "2026-01-02T03:04:05.678Z",
            }
            for name in names[:PAGE]
            if name in self.files
        ]
        page |= {"nextPageToken": names[PAGE]} if len(names) > PAGE else {}
        return Reply(200, json.dumps(page).encode())


class FakeHdfs(Store):
    """A name node, which sends readers of bytes to `data_node`."""

    data_node = ""

    def answer(self, asked: SeenRequest) -> Reply:
        path, query = asked.path.removeprefix("/webhdfs/v1/lake/"), asked.query
        path = path.removeprefix("/webhdfs/v1/lake")
        if query.get("user.name") != "ann":
            return _remote(401, "SecurityException")
        if query["op"] == "LISTSTATUS_BATCH":
            return self._batch(f"{path}/" if path else "", query.get("startAfter", ""))
        is_folder = any(name.startswith(f"{path}/") for name in self.files) or path in {"", "in"}
        if not is_folder and path not in self.files:
            return _remote(404, "FileNotFoundException")
        if query["op"] == "OPEN":
            return Reply(307, headers={"Location": f"{self.data_node}{asked.target}"})
        row = {"type": "DIRECTORY"} if is_folder else self._row(path)
        return Reply(200, json.dumps({"FileStatus": row}).encode())

    def data(self, asked: SeenRequest) -> Reply:
        start = int(asked.query["offset"])
        data = self.files[asked.path.removeprefix("/webhdfs/v1/lake/")]
        return Reply(200, data[start : start + int(asked.query["length"])])

    def _row(self, name: str) -> dict[str, Any]:
        return {
            "type": "FILE" if name in self.files else "DIRECTORY",
            "pathSuffix": name.rstrip("/").rpartition("/")[2],
            "length": len(self.files.get(name, b"")),
            "modificationTime": NOW_S * 1000 + self.writes.get(name, 0),
            "fileId": zlib.crc32(name.encode()) + 1,
        }

    def _batch(self, prefix: str, after: str) -> Reply:
        names = self.level({"prefix": prefix, "delimiter": "/"}, "")
        # As HDFS does: by the names, without slashes.
        rows = sorted((self._row(name) for name in names), key=lambda row: row["pathSuffix"])
        rows = [row for row in rows if row["pathSuffix"] > after]
        listing = {
            "partialListing": {"FileStatuses": {"FileStatus": rows[:PAGE]}},
            "remainingEntries": max(len(rows) - PAGE, 0),
        }
        return Reply(200, json.dumps({"DirectoryListing": listing}).encode())


def _remote(status: int, name: str) -> Reply:
    return Reply(status, json.dumps({"RemoteException": {"exception": name}}).encode())
