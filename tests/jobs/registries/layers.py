"""Layers for tests, made of folders as the pod of a build packs them."""

from __future__ import annotations

from pathlib import Path

from atom.jobs.registries.pipelines.layers import LayerFile, write_layer
from atom_sdk.runner.archive import pack

FOLDER = "atom/env"
RUNNER = "atom/runner/runner.pyz"


def environment(folder: Path) -> Path:
    """Write a small environment with a program, a link and a module."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / "m.py").write_text("x = 1\n")
    (folder / "bin" / "tool").write_text("#!/atom/env/bin/python\n")
    (folder / "bin" / "tool").chmod(0o750)
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    return folder


def layer_of(folder: Path, scratch: Path) -> LayerFile:
    """Return the layer of a packed folder and a runner."""
    archive = scratch / "archive.tar.gz"
    pack(folder, archive)
    with archive.open("rb") as packed:
        return write_layer(scratch / "layer", packed, FOLDER, {RUNNER: b"runner"})
