"""The runner in strange images: the oldest Python, as process 1, on a root that takes no write."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import atom_sdk.runner
from tests.sdk.runner.server import TOKEN, RunnerServer

OLDEST = (3, 8)
FOLDER = Path(atom_sdk.runner.__file__).parent
# Methods and functions that came after the oldest Python; ruff and ast see syntax alone.
TOO_NEW = {
    "removeprefix", "removesuffix", "bit_count", "pairwise", "batched", "is_relative_to",
    "randbytes", "to_thread", "waitstatus_to_exitcode", "file_digest", "hardlink_to", "readlink",
    "pidfd_open", "slots", "kw_only", "strict", "unparse", "nextafter", "lcm",
}  # fmt: skip

GENERICS = {
    "list", "dict", "set", "frozenset", "tuple", "type", "Callable", "Iterable", "Iterator",
    "Sequence", "Mapping", "MutableMapping", "Collection", "Generator", "Popen", "PathLike",
}  # fmt: skip


def _python(version: str) -> str | None:
    """Return an interpreter of the version that starts, None if there is none."""
    folders = [str(path) for path in Path.home().glob(f".pyenv/versions/{version}.*/bin")]
    path = os.pathsep.join([*folders, os.environ["PATH"]])
    found = shutil.which(f"python{version}", path=path)
    if (
        found is None
        or subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode
    ):
        return None
    return found


def _unshared() -> bool:
    """Return whether this user may make namespaces of processes and mounts."""
    program = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(program, check=False, capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_its_source_is_of_the_oldest_python(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=OLDEST)
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
              for alias in node.names}  # fmt: skip
    names |= {node.arg or "" for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert not names & TOO_NEW
    assert evaluated_generics(tree) == []


def test_types_that_the_oldest_python_cannot_evaluate_are_seen() -> None:
    source = "A = Callable[[int], str]\nclass B(dict[str, int]): pass\nx: list[int] = d['a']"
    assert evaluated_generics(ast.parse(source)) == [1, 2]


def evaluated_generics(tree: ast.Module) -> list[int]:
    """Return the lines that subscript a type when they run, unlike an annotation."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        notes = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            notes += node.body
        for note in notes:
            skipped |= set(ast.walk(note)) if isinstance(note, ast.AST) else set()
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and node not in skipped
        and isinstance(node.value, ast.Name)
        and node.value.id in GENERICS
    ]


# Each step of the program that must work there: a signal, an orphan, a file of its own.
SCRIPT = """
import os, subprocess, sys
assert os.getpid() != 1
subprocess.Popen(["sh", "-c", "sleep 0.05 & exit 0"]).wait()
open(os.path.join(os.environ["ATOM_OUTPUT_DIR"], "result"), "w").write("done")
try:
    open("/written", "w").close()
except OSError as error:
    print("root:", error.errno)
print("python", sys.version_info[:2])
"""


def _run_in_a_pod(
    python: str, folder: Path, pyz: Path, server: RunnerServer, *before: str
) -> subprocess.CompletedProcess[str]:
    (folder / "token").write_text("sa-1")
    (folder / "work").mkdir()
    job: dict[str, Any] = {"attempt": "a1", "run": "r1", "command": [python, "-c", SCRIPT]}
    server.state.joins = [(200, {"answer": "start", "token": TOKEN, "job": job})]
    env = {
        "PATH": os.environ["PATH"],
        "ATOM_API_URL": server.url,
        "ATOM_PLACEMENT": "placement",
        "ATOM_POD_NAME": "pod-0",
        "ATOM_POD_UID": "uid-0",
        "ATOM_POD_TOKEN_FILE": str(folder / "token"),
        "ATOM_WORK_DIR": str(folder / "work"),
    }
    command = [*before, python, str(pyz), "pod"]
    return subprocess.run(
        command, env=env, check=False, capture_output=True, text=True, timeout=60, cwd=folder
    )


def test_it_runs_on_the_oldest_python(
    tmp_path: Path, runner_pyz: Path, server: RunnerServer
) -> None:
    python = _python(".".join(map(str, OLDEST)))
    if python is None:
        pytest.skip("There is no Python 3.8 here; the source is checked above.")
    done = _run_in_a_pod(python, tmp_path, runner_pyz, server)
    assert done.returncode == 0, done.stderr
    assert "python (3, 8)" in server.lines()


def test_it_is_process_1_on_a_root_that_takes_no_write(
    tmp_path: Path, runner_pyz: Path, server: RunnerServer
) -> None:
    if not _unshared():
        pytest.skip("This user may make no namespaces.")
    script = (
        f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind / / 2>/dev/null "
        '; exec "$@"'
    )
    before = ["unshare", "--pid", "--fork", "--mount-proc", "--mount", "sh", "-c", script, "sh"]
    done = _run_in_a_pod(sys.executable, tmp_path, runner_pyz, server, *before)
    assert done.returncode == 0, done.stderr
    assert server.state.storage["out/result"] == b"done"
