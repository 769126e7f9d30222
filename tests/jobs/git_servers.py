"""Git servers on this machine: over HTTP with or without a password, and over SSH."""

from __future__ import annotations

import base64
import io
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import paramiko
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.protocol import Protocol
from dulwich.refs import Ref
from dulwich.repo import Repo
from dulwich.server import BackendRepo, DictBackend, UploadPackHandler
from dulwich.web import make_wsgi_chain
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

REGULAR, EXECUTABLE, LINK, MODULE = 0o100644, 0o100755, 0o120000, 0o160000
AUTHOR = b"Ana <ana@example.org>"


def make_repo(folder: Path) -> Repo:
    """A repository without files, whose default branch is main."""
    repo = Repo.init_bare(str(folder), mkdir=True)
    repo.refs.set_symbolic_ref(Ref(b"HEAD"), Ref(b"refs/heads/main"))
    return repo


def commit(
    repo: Repo, files: dict[str, tuple[int, bytes]], message: str, branch: str = "main"
) -> str:
    """Commit files (mode and bytes by name, no folders) and return the commit."""
    tree = Tree()
    for name, (mode, content) in files.items():
        if mode == MODULE:
            tree.add(name.encode(), mode, ObjectID(b"1" * 40))
            continue
        blob = Blob.from_string(content)
        repo.object_store.add_object(blob)
        tree.add(name.encode(), mode, blob.id)
    repo.object_store.add_object(tree)
    ref = Ref(f"refs/heads/{branch}".encode())
    made = Commit()
    made.tree, made.message = tree.id, message.encode()
    made.author = made.committer = AUTHOR
    made.author_time = made.commit_time = 1_790_000_000
    made.author_timezone = made.commit_timezone = 0
    made.parents = [repo.refs[ref]] if ref in repo.refs else []
    repo.object_store.add_object(made)
    repo.refs[ref] = made.id
    return made.id.decode()


def backend_of(repo: Repo) -> DictBackend:
    """The backend from which dulwich serves the repository, at /code."""
    found: dict[str, BackendRepo] = {"/code": repo}
    return DictBackend(found)


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def http_server(repo: Repo, token: str = "") -> Iterator[str]:
    """The address of the repository, for who has the token."""
    app: Callable[..., Iterable[bytes]] = make_wsgi_chain(backend_of(repo))
    wanted = "Basic " + base64.b64encode(f"git:{token}".encode()).decode()

    def guarded(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if token and environ.get("HTTP_AUTHORIZATION") != wanted:
            start("401 Unauthorized", [("WWW-Authenticate", "Basic")])
            return [b""]
        return app(environ, start)

    server = make_server("127.0.0.1", 0, guarded, handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/code"
    server.shutdown()
    server.server_close()


def private_key(key: paramiko.PKey) -> str:
    """The key as people paste it."""
    out = io.StringIO()
    key.write_private_key(out)
    return out.getvalue()


class _Door(paramiko.ServerInterface):
    def __init__(self, allowed: paramiko.PKey) -> None:
        self._allowed = allowed.asbytes()
        self.asked = threading.Event()

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        good = username == "git" and key.asbytes() == self._allowed
        return AUTH_SUCCESSFUL if good else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self.command = command.decode()
        self.asked.set()
        return True


class SshServer:
    """Serves one repository over SSH, to the holder of one key."""

    def __init__(self, repo: Repo, allowed: paramiko.PKey) -> None:
        self._repo, self._allowed = repo, allowed
        self.host_key: paramiko.PKey = paramiko.ECDSAKey.generate()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"ssh://git@127.0.0.1:{self._socket.getsockname()[1]}/code"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._socket.close()

    def _run(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: Any) -> None:
        transport = paramiko.Transport(client)
        transport.add_server_key(self.host_key)
        door = _Door(self._allowed)
        try:
            transport.start_server(server=door)
            channel = transport.accept(10)
            if channel is not None and door.asked.wait(10):
                self._upload_pack(channel)
        except (paramiko.SSHException, EOFError, OSError):
            pass
        finally:
            transport.close()

    def _upload_pack(self, channel: paramiko.Channel) -> None:
        def read(count: int) -> bytes:
            found = b""
            while len(found) < count and (data := channel.recv(count - len(found))):
                found += data
            return found

        proto = Protocol(read, channel.sendall)
        UploadPackHandler(backend_of(self._repo), ["/code"], proto).handle()
        channel.send_exit_status(0)
        channel.shutdown_write()
        # Until the client has read all and hangs up.
        channel.settimeout(10)
        while channel.recv(1):
            pass
