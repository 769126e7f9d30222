"""A real API server from the binaries etcd and kube-apiserver, as KUBEBUILDER_ASSETS holds them."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import yaml

_TOKEN = "token-of-the-test"


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def commands(assets: Path, folder: Path, ports: tuple[int, int, int]) -> list[list[str]]:
    """Return the command lines of etcd and of the API server.

    `ports` are those of etcd's clients, of its peers and of the API. The folder holds `sa.key` and
    `tokens.csv`.
    """
    etcd = f"http://127.0.0.1:{ports[0]}"
    key = folder / "sa.key"
    return [
        [
            str(assets / "etcd"),
            f"--data-dir={folder}/etcd",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls=http://127.0.0.1:{ports[1]}",
        ],
        [
            str(assets / "kube-apiserver"),
            f"--etcd-servers={etcd}",
            f"--cert-dir={folder}/certificates",
            f"--secure-port={ports[2]}",
            "--bind-address=127.0.0.1",
            # Bound to a loopback address it would ask the default route, which may be missing. Such
            # an address is none for the endpoints of its own service, so nobody writes them.
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            # No controller makes the accounts that pods would need.
            "--disable-admission-plugins=ServiceAccount",
        ],
    ]


@contextmanager
def running_binaries(assets: Path) -> Iterator[str]:
    """Start both and return a kubeconfig; no controller runs beside them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tokens.csv").write_text(f'{_TOKEN},admin,1,"system:masters"\n')
        key = str(folder / "sa.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True)
        ports = (_port(), _port(), _port())
        processes = [subprocess.Popen(command) for command in commands(assets, folder, ports)]
        try:
            url = f"https://127.0.0.1:{ports[2]}"
            _wait(url, processes)
            yield _kubeconfig(url)
        finally:
            for process in reversed(processes):
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(url: str, processes: list[subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for process in processes:
            if process.poll() is not None:
                raise AssertionError(f"{process.args!r} ended with {process.returncode}")
        try:
            if httpx.get(f"{url}/readyz", verify=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError("the API server does not become ready")


def _kubeconfig(url: str) -> str:
    cluster = {"server": url, "insecure-skip-tls-verify": True}
    return yaml.safe_dump(
        {"clusters": [{"cluster": cluster}], "users": [{"user": {"token": _TOKEN}}]}
    )
