"""A script in a run that may write: its versions name the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.jobs.actions import write_access
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
REFUSED = """
from atom_sdk import run
try:
    run.writer("features")
except run.MayNotWriteError as error:
    print(error, "--may-write" in error.hint)
"""


def outcome(script: str, env: dict[str, str]) -> str:
    """Run a script as a run's command and return what it printed."""
    command = [sys.executable, "-c", script]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "ATOM_CACHE")}
    done = subprocess.run(command, env={**kept, **env}, capture_output=True, text=True, check=False)
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
