"""Fetches one commit of a git repository; a process of its own, which a limit may end.

Reads a request as JSON from its standard input. Writes the files of the commit as a tar.gz, and an
answer as JSON to its standard output. A user names the server it connects to, so it has neither
Django nor the installation's secrets. It connects only to addresses that were checked.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3
from dulwich.client import HttpGitClient, HTTPUnauthorized, SSHGitClient
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.objects import Commit, ObjectID, Tag
from dulwich.refs import Ref
from dulwich.repo import Repo

from atom.jobs.code.pipelines.git_archive import TooLargeError, write_archive
from atom.jobs.code.pipelines.git_connections import (
    BadKeyError,
    HostKeyChangedError,
    SshVendor,
    checked_pool,
)
from atom.jobs.code.pipelines.git_reasons import reason_of
from atom_sdk.public_hosts import AddressRefusedError, HostUnknownError

_COMMIT_CHARACTERS = 40
# A pack of a long history; the files of a commit have a limit of their own.
_DISK_BYTES = 4 << 30


class FetchError(Exception):
    """Why there is no commit: a code of `atom.jobs.errors`, and a sentence."""

    def __init__(self, code: str, text: str) -> None:
        """Keep both."""
        super().__init__(text)
        self.code = code


def fetch(request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the files of a commit to `request["archive"]` and describe it. Raises FetchError."""
    allowed: list[str] = request["allowed"]
    vendor = SshVendor(request["secret"], request["host_key"], allowed)
    with tempfile.TemporaryDirectory(dir=Path(request["archive"]).parent) as folder:
        repo = Repo.init_bare(folder)
        try:
            commit = _fetched(repo, request, vendor)
            found = write_archive(repo, commit.tree, Path(request["archive"]))
        finally:
            repo.close()
    return {
        "commit": commit.id.decode(),
        "message": _text(commit.message).strip().split("\n")[0][:300],
        "author": _text(commit.author).split(" <")[0][:300],
        "committed_at_s": commit.commit_time,
        "host_key": vendor.seen,
        **found,
    }


def _fetched(repo: Repo, request: Mapping[str, Any], vendor: SshVendor) -> Commit:
    try:
        return _commit(repo, request, vendor)
    except AddressRefusedError as error:
        raise FetchError("git_address_refused", str(error)) from error
    except HostKeyChangedError as error:
        raise FetchError("git_host_key_changed", str(error)) from error
    except (HTTPUnauthorized, PermissionError) as error:
        is_key = isinstance(error, BadKeyError)
        said = str(error) if is_key else "The server wants other credentials."
        raise FetchError("git_not_allowed", said) from error
    except NotGitRepository as error:
        raise FetchError("git_not_found", "There is no repository at this address.") from error
    except (HangupException, GitProtocolError) as error:
        if isinstance(error.__cause__, urllib3.exceptions.HTTPError):
            raise FetchError(*reason_of(error)) from error
        raise FetchError("git_odd", f"The server refused: {error}"[:500]) from error
    except (HostUnknownError, OSError, urllib3.exceptions.HTTPError) as error:
        raise FetchError(*reason_of(error)) from error


def _commit(repo: Repo, request: Mapping[str, Any], vendor: SshVendor) -> Commit:
    client, path = _client(request, vendor)
    wanted = _RefChooser(request["ref"])
    try:
        client.fetch(path, repo, determine_wants=wanted.choose, depth=1)
    except (GitProtocolError, HangupException):
        if not wanted.is_commit:
            raise
        # Some servers give only what a branch or a tag is at: then all of these, with history.
        wanted.everything = True
        client.fetch(path, repo, determine_wants=wanted.choose)
    return _peeled(repo, wanted)


def _client(request: Mapping[str, Any], vendor: SshVendor) -> tuple[Any, str]:
    parts = urlsplit(request["url"])
    if parts.scheme == "ssh":
        ssh = SSHGitClient(
            parts.hostname or "", port=parts.port, username=parts.username, vendor=vendor
        )
        return ssh, parts.path
    base = f"{parts.scheme}://{parts.netloc}"
    # The name that hosts take beside a token; they look at the token only.
    name = request["username"] or "git"
    return (
        HttpGitClient(
            base,
            pool_manager=checked_pool(request["allowed"]),
            username=name if request["secret"] else None,
            password=request["secret"] or None,
        ),
        parts.path,
    )


class _RefChooser:
    """Chooses the meaning of a ref among those that the server lists."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self.is_commit = len(ref) == _COMMIT_CHARACTERS and not set(ref) - set("0123456789abcdef")
        self.everything = False
        self.found = ref.encode() if self.is_commit else b""

    def choose(self, refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        """Return what to ask for. Raises FetchError."""
        if self.is_commit:
            heads = (b"refs/heads/", b"refs/tags/")
            told = {one for name, one in refs.items() if name.startswith(heads)}
            return sorted(told) if self.everything else [ObjectID(self.found)]
        ref = self.ref.encode()
        names = (b"refs/heads/" + ref, b"refs/tags/" + ref, ref) if ref else (b"HEAD",)
        for name in names:
            if one := refs.get(Ref(name)):
                self.found = one
                return [one]
        branches = ", ".join(_branches(refs)[:10]) or "none"
        said = f"The repository has no {self.ref or 'HEAD'}. Its branches: {branches}."
        raise FetchError("git_ref_not_found", said)


def _branches(refs: Mapping[Ref, ObjectID]) -> list[str]:
    heads = b"refs/heads/"
    return sorted(_text(name[len(heads) :]) for name in refs if name.startswith(heads))


def _peeled(repo: Repo, wanted: _RefChooser) -> Commit:
    try:
        found = repo[wanted.found]
        while isinstance(found, Tag):
            found = repo[found.object[1]]
    except KeyError:
        found = None
    if not isinstance(found, Commit):
        raise FetchError("git_ref_not_found", f"The repository has no commit {wanted.ref}.")
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("\0", "")


def main(arguments: Sequence[str] = ()) -> None:
    """Answer one request."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_DISK_BYTES, _DISK_BYTES))
    request = json.load(sys.stdin)
    try:
        answer = fetch(request)
    except FetchError as error:
        answer = {"error": error.code, "text": str(error)}
    except TooLargeError as error:
        answer = {"error": "git_too_large", "text": str(error)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
