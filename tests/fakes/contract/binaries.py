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


@contextmanager
def running_binaries(assets: Path) -> Iterator[str]:
    """Start both and return a kubeconfig; no controller runs beside them."""
    with tempfile.TemporaryDirectory() as folder:
        ports = [_port() for _ in range(3)]
        etcd = f"http://127.0.0.1:{ports[0]}"
        key, tokens = Path(folder) / "sa.key", Path(folder) / "tokens.csv"
        tokens.write_text(f'{_TOKEN},admin,1,"system:masters"\n')
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True)
        commands = [
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
                f"--token-auth-file={tokens}",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                # No controller makes the accounts that pods would need.
                "--disable-admission-plugins=ServiceAccount",
            ],
        ]
        processes = [subprocess.Popen(command) for command in commands]
        try:
            url = f"https://127.0.0.1:{ports[2]}"
            _wait(url)
            yield _kubeconfig(url)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait(20)


def _wait(url: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
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
