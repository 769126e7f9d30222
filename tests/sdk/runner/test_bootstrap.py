"""The program of the init container that downloads the runner."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from atom_sdk.runner.build import bootstrap_source
from tests.sdk.runner.server import RunnerServer


def bootstrap(folder: Path, url: str, sha256: str) -> subprocess.CompletedProcess[str]:
    env = {
        "ATOM_RUNNER_URL": url,
        "ATOM_RUNNER_SHA256": sha256,
        "ATOM_LAYER_DIR": str(folder),
        "ATOM_BOOTSTRAP_S": "0.1",
    }
    program = [sys.executable, "-c", bootstrap_source()]
    return subprocess.run(program, env=env, capture_output=True, text=True, check=False)


def test_the_runner_is_downloaded_and_verified(tmp_path: Path, server: RunnerServer) -> None:
    file = server.put("runner.pyz", b"a runner")
    assert bootstrap(tmp_path, file["url"], file["sha256"]).returncode == 0
    assert (tmp_path / "runner.pyz").read_bytes() == b"a runner"


def test_a_failure_names_the_address_and_the_cause(tmp_path: Path, server: RunnerServer) -> None:
    file = server.put("runner.pyz", b"a runner")
    wrong = bootstrap(tmp_path, file["url"], "0" * 64)
    absent = bootstrap(tmp_path, file["url"] + "x", file["sha256"])
    assert (wrong.returncode, absent.returncode) == (1, 1)
    assert file["url"] in wrong.stderr
    assert "SHA-256" in wrong.stderr
    assert "404" in absent.stderr
    assert list(tmp_path.iterdir()) == []
