"""Other people's readers, in an environment of their own: their pins are not ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

DATUMARO: Final = "datumaro==1.13.0"
# Its module of brushes needs numpy and Pillow alone, which datumaro brings.
LABEL_STUDIO: Final = "label-studio-sdk==2.1.2"
_UNREACHABLE: Final = (
    "No matching distribution", "Could not find a version", "Connection", "ReadTimeout",
)  # fmt: skip


class Oracle:
    """An interpreter that has the readers."""

    def __init__(self, folder: Path) -> None:
        """Build the environment; skips the test where the package index does not answer."""
        self._python = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        self._install(DATUMARO)
        self._install("--no-deps", LABEL_STUDIO)

    def ask(self, code: str, *arguments: str, sent: Any = None) -> Any:
        """Run lines with JSON as their standard input; return the JSON of their last line."""
        done = subprocess.run(
            [str(self._python), "-c", code, *arguments],
            input=json.dumps(sent), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    def _install(self, *arguments: str) -> None:
        options = ["install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        done = subprocess.run(
            [str(self._python), "-m", "pip", *options, *arguments],
            capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
        if done.returncode and any(text in done.stderr for text in _UNREACHABLE):
            pytest.skip(f"the package index gave no {arguments[-1]}: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr[-3000:]
