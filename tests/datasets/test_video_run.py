"""A run of the video workflow against the real API: its token, its version, and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from django.core.management import call_command

from atom.accounts.actions import grant_role
from atom.accounts.models import ApiToken
from atom.jobs import states
from atom.jobs.attempts.actions import write_access
from atom.jobs.models import Attempt
from atom.jobs.workflows.actions import workflows
from atom_sdk.client import ApiError, Client
from atom_sdk.client.push.importing import ImportOptions
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_project
from tests.factories.jobs import make_attempt, make_run

EXTRACT = workflows.BUILT_IN / "video_frames" / "extract.py"
PARAMETERS = {"dataset": "road@v1", "output": "frames", "prefix": "", "mode": "frames"}


@pytest.fixture
def road(client: Client, tmp_path: Path) -> Client:
    """A dataset with a video of two seconds, and one that is none."""
    folder = tmp_path / "videos" / "crossing"
    folder.mkdir(parents=True)
    (folder / "broken.mp4").write_bytes(b"no video")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-f", "lavfi", "-i", "testsrc=duration=2:rate=5"]
    subprocess.run([*command, str(folder / "a.mp4")], check=True, capture_output=True)
    table = tmp_path / "videos" / "list.csv"
    table.write_text("path,label,split\ncrossing/a.mp4,wet,val\ncrossing/broken.mp4,,\n")
    client.datasets.import_(table, "road", ImportOptions("csv"))
    return client


def attempt_of(pusher: Pusher, slug: str = "video-frames") -> Attempt:
    call_command("sync_workflows")
    run = make_run(pusher.project, pusher.user, workflow=workflows.find(None, slug))
    return make_attempt(run)


def environment(client: Client, attempt: Attempt, folder: Path) -> dict[str, str]:
    """The environment that the runner gives to the command, with the input on this machine."""
    dataset = client.datasets.open("road@v1")
    view = {"index_path": str(dataset.index.path), "pack_dir": str(dataset.pack_dir)}
    datasets, parameters = folder / "datasets.json", folder / "parameters.json"
    datasets.write_text(json.dumps({"dataset": {**view, "reference": "road@v1"}}))
    parameters.write_text(json.dumps(PARAMETERS))
    given = {
        "ATOM_RUN_ID": str(attempt.run_id),
        "ATOM_DATASETS": str(datasets),
        "ATOM_PARAMETERS": str(parameters),
        "ATOM_METRICS_FILE": str(folder / "metrics.jsonl"),
        "ATOM_OUTPUT_DIR": str(folder / "outputs"),
        "ATOM_CACHE": str(folder / "cache"),
        "ATOM_CONFIG": str(folder / "none.json"),
    }
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, **given, **write_access.grant(attempt, client.config.url)}


def extract(env: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXTRACT)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_run_makes_a_version_that_names_it_and_a_retry_makes_none(
    road: Client, pusher: Pusher, tmp_path: Path
) -> None:
    attempt = attempt_of(pusher)
    env = environment(road, attempt, tmp_path)
    done = extract(env, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "crossing/broken.mp4 is left out" in done.stdout
    rows: list[dict[str, Any]] = list(road.datasets.entries("frames@v1"))
    assert [(row["path"], row["label"], row["split"]) for row in rows] == [
        (f"crossing/a.mp4/t00000{second}000.jpg", "wet", "val") for second in (0, 1)
    ]
    assert rows[1]["attributes"] == {"source": "crossing/a.mp4", "time_s": 1}
    provenance = road.datasets.version("frames@v1")["provenance"]
    assert (provenance["kind"], provenance["run"]) == ("run", str(attempt.run_id))
    assert provenance["inputs"] == ["road@v1"]
    workflow = attempt.run.workflow
    assert workflow is not None
    made_by = provenance["made_by"]
    assert (made_by["run"], made_by["attempt"]) == (str(attempt.run_id), 1)
    assert made_by["workflow"] == {"name": "video-frames", "version": workflow.version}
    assert provenance["parameters"] == PARAMETERS
    assert provenance["counts"] == {"videos": 2, "files": 2, "broken": 1}
    report = json.loads((tmp_path / "outputs" / "report.json").read_text())
    assert list(report["broken"]) == ["crossing/broken.mp4"]
    assert extract(env, tmp_path).returncode == 0
    assert len(list(road.datasets.log("frames"))) == 1


def test_a_run_that_cannot_push_leaves_no_empty_dataset(
    road: Client, pusher: Pusher, tmp_path: Path
) -> None:
    env = environment(road, attempt_of(pusher), tmp_path)
    # No branch is called so, which the push finds when the dataset is there.
    (tmp_path / "parameters.json").write_text(json.dumps({**PARAMETERS, "output": "frames@v7"}))
    done = extract(env, tmp_path)
    assert done.returncode == 1, done.stderr
    assert "frames" not in {row["name"] for row in road.datasets.list()}
    assert road.datasets.get_or_create("frames")["versions_count"] == 0


def test_the_token_is_for_one_project_and_ends_with_the_attempt(
    client: Client, pusher: Pusher
) -> None:
    attempt = attempt_of(pusher)
    given = write_access.grant(attempt, client.config.url)
    other = make_project()
    grant_role(pusher.user, "researcher", other)
    elsewhere = Client(given["ATOM_URL"], given["ATOM_TOKEN"], other.slug)
    with elsewhere, pytest.raises(ApiError):
        elsewhere.datasets.get_or_create("taken")
    with Client(given["ATOM_URL"], given["ATOM_TOKEN"], given["ATOM_PROJECT"]) as job:
        job.datasets.get_or_create("made")
        write_access.withdraw(attempt)
        with pytest.raises(ApiError) as refused:
            job.datasets.get("made")
    assert refused.value.status == 401
    write_access.withdraw(attempt)


@pytest.mark.django_db
def test_a_run_that_only_reads_gets_no_token(pusher: Pusher) -> None:
    attempt = attempt_of(pusher, "image-classification")
    assert write_access.grant(attempt, "http://atom") == {}
    assert write_access.grant(make_attempt(make_run(pusher.project, pusher.user)), "http://a") == {}
    assert not ApiToken.objects.filter(name__startswith="run ").exists()
    assert attempt.state == states.RUNNING
