"""The S3 server and the Valkey of a stack, without the rest of it."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from obstore.store import S3Store

from atom.dev.confine import before_exec
from atom.dev.ports import find_free
from atom.dev.seaweed import PORTS_USED, REGION, Seaweed
from atom.dev.spec import ProcessSpec
from atom.dev.valkey import Valkey

_READY_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 20.0


@contextmanager
def s3_server(folder: Path) -> Iterator[Seaweed]:
    """Run SeaweedFS with its data below `folder`."""
    port = find_free(PORTS_USED, start=secrets.randbelow(11_000))
    server = Seaweed(folder, port, secrets.token_hex(8), secrets.token_hex(16))
    with running(server.spec(), folder.parent / "s3.log"):
        yield server


@contextmanager
def valkey_server(folder: Path) -> Iterator[Valkey]:
    """Run Valkey; it writes nothing to the disk."""
    port = find_free(1, start=secrets.randbelow(11_000))
    server = Valkey(folder, port, secrets.token_hex(16), durable=False)
    with running(server.spec(), folder.parent / "valkey.log"):
        yield server


def store_of(server: Seaweed, url: str | None = None) -> S3Store:
    """Return the client that Atom itself reads with; `url` for one through a proxy."""
    return S3Store(
        server.bucket,
        endpoint=url or server.url,
        access_key_id=server.access_key_id,
        secret_access_key=server.secret_access_key,
        region=REGION,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )


def aws_environment(server: Seaweed) -> dict[str, str]:
    """Return what tools need to know of the server."""
    return {
        **os.environ,
        "AWS_ACCESS_KEY_ID": server.access_key_id,
        "AWS_SECRET_ACCESS_KEY": server.secret_access_key,
        "AWS_REGION": REGION,
        "S3_ENDPOINT_URL": server.url,
    }


@contextmanager
def running(spec: ProcessSpec, log_path: Path) -> Iterator[None]:
    spec.prepare()
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            spec.argv,
            cwd=spec.cwd,
            env={**os.environ, **spec.env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=before_exec(  # noqa: PLW1509
                spec.stop_signal, as_namespaced_user=spec.as_namespaced_user
            ),
        )
    try:
        _wait_until_ready(spec, process, log_path)
        yield
    finally:
        process.send_signal(spec.stop_signal)
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(spec: ProcessSpec, process: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + _READY_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if spec.is_ready():
            return
        time.sleep(0.1)
    raise RuntimeError(f"{spec.name} did not start: {log_path.read_text(errors='replace')[-500:]}")
