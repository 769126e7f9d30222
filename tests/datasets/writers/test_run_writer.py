"""A script in a run that may write: its versions name the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.jobs.attempts.actions import write_access
from atom.jobs.models import CodeSnapshot, Runtime
from atom_sdk.client import Client
from tests.datasets.pushing import Pusher
from tests.factories.jobs import make_attempt, make_run

SCRIPT = """
from atom_sdk import run
from atom_sdk.client.writing import WriterOptions
options = WriterOptions(provenance={"run": "a lie", "writer": "a lie", "model": "vit-b"})
with run.writer("features", message="Features", options=options) as writer:
    writer.write("a.txt", b"a")
    print(writer.id)
print(run.client().datasets.get("features")["name"])
import fsspec, os
fsspec.filesystem("atom").pipe(f"atom://{os.environ['ATOM_PROJECT']}/features@main/b.txt", b"b")
"""
# Every way in which a run's code makes versions; `made_by` it cannot say itself.
EVERY_WAY = """
from pathlib import Path
import fsspec, os
from atom_sdk import run
from atom_sdk.client.writing import WriterOptions
with run.writer("written") as writer:
    writer.write("a.txt", b"a")
fsspec.filesystem("atom").pipe(f"atom://{os.environ['ATOM_PROJECT']}/written@main/b.txt", b"b")
client = run.client()
Path("folder").mkdir()
Path("folder/c.txt").write_bytes(b"c")
client.datasets.push("folder", "pushed")
client.datasets.get_or_create("joined")
job = client.datasets.write_job("joined", "etl")
with job.task(0) as part:
    part.write("d.txt", b"d")
job.commit()
"""
REFUSED = """
from atom_sdk import run
try:
    run.writer("features")
except run.MayNotWriteError as error:
    print(error, "--may-write" in error.hint)
"""


def outcome(script: str, env: dict[str, str], folder: Path | None = None) -> str:
    """Run a script as a run's command and return what it printed."""
    command = [sys.executable, "-c", script]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "ATOM_CACHE")}
    done = subprocess.run(
        command, cwd=folder, env={**kept, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_versions_of_a_runs_writers_name_the_run_and_what_it_read(
    client: Client, pusher: Pusher, tmp_path: Path
) -> None:
    run = make_run(pusher.project, pusher.user, may_write=True)
    attempt = make_attempt(run)
    datasets = tmp_path / "datasets.json"
    datasets.write_text(json.dumps({"d": {"alias": "d", "reference": "digits@v3"}}))
    given = write_access.grant(attempt, client.config.url)
    inside = {"ATOM_RUN_ID": str(run.pk), "ATOM_DATASETS": str(datasets)}
    writer, name = outcome(SCRIPT, {**inside, **given}).split()
    assert name == "features"

    features = client.datasets.version("features@v1")
    said = features["provenance"]
    assert (features["message"], features["author"]["username"]) == (
        "Features",
        pusher.user.username,
    )
    assert (said["kind"], said["run"], said["inputs"]) == ("write", str(run.pk), ["digits@v3"])
    assert (said["model"], said["writer"]) == ("vit-b", writer)
    piped = client.datasets.version("features@v2")["provenance"]
    assert (piped["kind"], piped["run"], piped["inputs"]) == ("write", str(run.pk), ["digits@v3"])


def test_every_version_that_a_run_makes_names_its_code_and_its_environment(
    client: Client, pusher: Pusher, tmp_path: Path
) -> None:
    code = CodeSnapshot.objects.create(
        project=pusher.project,
        digest="c" * 64,
        size_bytes=1,
        key="c",
        git={"commit": "d" * 40, "branch": "main", "dirty": True},
    )
    runtime = Runtime.objects.create(digest="e" * 64, python="3.11")
    run = make_run(pusher.project, pusher.user, may_write=True, code=code, runtime=runtime)
    given = write_access.grant(make_attempt(run), client.config.url)
    datasets = tmp_path / "datasets.json"
    datasets.write_text("{}")
    inside = {"ATOM_RUN_ID": str(run.pk), "ATOM_DATASETS": str(datasets)}
    outcome(EVERY_WAY, {**inside, **given}, tmp_path)

    expected = {
        "run": str(run.pk),
        "number": run.number,
        "attempt": 1,
        "code": {"digest": "c" * 64, "commit": "d" * 40, "dirty": True},
        "environment": {"digest": "e" * 64, "python": "3.11"},
    }
    for reference in ("written@v1", "written@v2", "pushed@v1", "joined@v1"):
        assert client.datasets.version(reference)["provenance"]["made_by"] == expected, reference
    assert compare_catalogue(pusher.project).is_equal
    # Versions that a person makes by hand name no run.
    pusher.push({"by-hand.txt": b"e"})
    assert "made_by" not in client.datasets.version("digits@main")["provenance"]


def test_without_the_right_or_outside_of_a_run_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path))
    inside = outcome(REFUSED, {"ATOM_RUN_ID": "1", "ATOM_URL": "http://127.0.0.1:9"})
    assert inside == "This run was not started with the right to write datasets. True\n"
    # Also where the person is logged in: a version of theirs must not seem to be a run's.
    logged_in = {"ATOM_URL": "http://127.0.0.1:9", "ATOM_TOKEN": "x", "ATOM_PROJECT": "p"}
    outside = outcome(REFUSED, logged_in)
    assert outside == "This is not a run, so there is no run to write for. True\n"
