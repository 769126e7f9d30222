"""Brings code, input files and the checkpoint to go on from, each verified."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from .api import backoff_s, connect
from .archive import ENVIRONMENT, unpack
from .disk import refusal

CHUNK_BYTES = 1024 * 1024
TIMEOUT_S = 60.0
TRIES = 8
_EXPIRED = frozenset({400, 401, 403, 404, 410})


class InputError(Exception):
    """Something that the job needs cannot be had; the message is a sentence for people."""


class StorageAwayError(InputError):
    """The storage did not answer for minutes."""


class ExpiredUrlError(InputError):
    """The storage refused the address; a new one may work."""


def fetch_code(code: Mapping[str, Any], work: Path, temporary: Path) -> None:
    """Fill the working folder from a snapshot. Raises InputError, ArchiveError."""
    source = None if code.get("url") else code.get("path")
    if source and Path(source).is_dir():
        shutil.copytree(str(source), str(work), dirs_exist_ok=True)
        return
    archive = Path(source) if source else temporary / "code.tar"
    if not source:
        download(code, archive)
    verify(archive, code, "the code snapshot")
    unpack(archive, work)
    if not source:
        archive.unlink()


def fetch_environment(environment: Mapping[str, Any], folder: Path, temporary: Path) -> None:
    """Unpack a built environment to a folder, unless it is there. InputError, ArchiveError."""
    marker = folder / f".atom-{environment['sha256']}"
    if marker.exists():
        return
    archive = temporary / "environment.tar.gz"
    file = {**environment, "path": "the environment"}
    download(file, archive)
    verify(archive, file, "the environment")
    folder.mkdir(parents=True, exist_ok=True)
    unpack(archive, folder, ENVIRONMENT)
    archive.unlink()
    marker.touch()


def fetch_files(files: list[dict[str, Any]], folder: Path, prefix: str = "") -> None:
    """Download files to `folder`, named by their paths without `prefix`. Raises InputError."""
    for file in files:
        path = str(file["path"])
        target = inside(folder, path[len(prefix) :] if path.startswith(prefix) else path)
        if target.exists() and _is_verified(target, file):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.partial")
        download(file, partial)
        verify(partial, file, path)
        partial.replace(target)


def download(file: Mapping[str, Any], target: Path) -> None:
    """GET `file["url"]` to a file, trying again after faults.

    Raises StorageAwayError, ExpiredUrlError.
    """
    name = str(file.get("path") or target.name)
    for tries in range(TRIES):
        try:
            # Presigned addresses point at the installation's own storage, never behind a proxy.
            opener = build_opener(ProxyHandler({}))
            answer = opener.open(str(file["url"]), timeout=TIMEOUT_S)
            with answer, open(str(target), "wb") as out:
                shutil.copyfileobj(answer, out, CHUNK_BYTES)
                os.fsync(out.fileno())
            return
        except HTTPError as error:
            if error.code in _EXPIRED:
                raise ExpiredUrlError(f"The storage refused {name} (HTTP {error.code}).") from error
        except (URLError, OSError) as error:
            # No storage is away: to ask again does not repair the disk.
            if refusal(error):
                raise
        time.sleep(backoff_s(tries))
    raise StorageAwayError(f"Could not download {name} after {TRIES} tries.")


def put(address: Callable[[], str], path: Path) -> None:
    """PUT a file to the storage; each try asks for a fresh address. StorageAwayError."""
    status = 0
    for tries in range(TRIES):
        try:
            with path.open("rb") as content:
                status = put_once(address(), content, path.stat().st_size)
        except (OSError, HTTPException):
            status = 0
        if 0 < status < 300:
            return
        time.sleep(backoff_s(tries))
    raise StorageAwayError(f"The storage did not take {path.name} (HTTP {status}).")


class Readable(Protocol):
    """The bytes of a request, as `http.client` reads them."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes."""


def put_once(url: str, content: Readable, size_bytes: int) -> int:
    """PUT a file; return the status. Raises OSError, HTTPException."""
    parts = urlsplit(url)
    connection = connect(parts.scheme, parts.netloc)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("PUT", target, content, {"Content-Length": str(size_bytes)})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def digest_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    return _digest(path, hashlib.sha256)


def verify(path: Path, file: Mapping[str, Any], name: str) -> None:
    """Compare size and digests with what is promised. Raises InputError."""
    size_bytes = path.stat().st_size
    if file.get("size_bytes") is not None and int(file["size_bytes"]) != size_bytes:
        raise InputError(f"The size of {name} is {size_bytes}, not {file['size_bytes']} bytes.")
    for promised, make in (
        (file.get("sha256"), hashlib.sha256),
        (file.get("digest"), _blake3()),
    ):
        if promised and make and _digest(path, make) != promised:
            raise InputError(f"The content of {name} does not match its digest.")


def _is_verified(path: Path, file: Mapping[str, Any]) -> bool:
    try:
        verify(path, file, path.name)
    except InputError:
        return False
    return bool(file.get("sha256"))


def _digest(path: Path, make: Callable[[], Any]) -> str:
    state = make()
    with open(str(path), "rb") as file:
        while True:
            chunk = file.read(CHUNK_BYTES)
            if not chunk:
                return str(state.hexdigest())
            state.update(chunk)


def _blake3() -> Callable[[], Any] | None:
    """Return BLAKE3 if this interpreter has it; the runner itself depends on nothing."""
    try:
        make: Callable[[], Any] = importlib.import_module("blake3").blake3
    except ImportError:
        return None
    return make


def inside(folder: Path, path: str) -> Path:
    """Return a path below a folder. Raises InputError for one that would leave it."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise InputError(f"The file name {path!r} would leave its folder.")
    return folder.joinpath(*parts)
