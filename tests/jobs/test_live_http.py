"""A run through HTTP with a real runtime: what a person with the CLI gets."""

from __future__ import annotations

import pytest
from blake3 import blake3
from rest_framework.test import APIClient

from atom.clusters.actions import beat_local_node
from atom.core import storage
from atom.jobs import states
from atom.jobs.actions import logs
from atom.jobs.models import CodeSnapshot, Run, Runtime
from atom.jobs.pipelines.archive import pack_files
from tests.factories.accounts import make_member, make_project
from tests.jobs.live import reconcile_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SCRIPT = """
from atom_sdk import run
print("params", run.params)
for step in range(20):
    run.log({"loss": 1 / (step + 1)}, step=step)
run.progress(0.5, "half way")
"""


@pytest.mark.timeout(300)
def test_a_script_with_the_sdk_in_a_runtime_built_by_pip(live: str, tmp_path: object) -> None:
    beat_local_node()
    project = make_project()
    api = APIClient()
    api.force_authenticate(make_member(project, "researcher"))
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "train.py").write_text(SCRIPT)
    data = pack_files(folder, ["train.py"])
    body = {"digest": blake3(data).hexdigest(), "size_bytes": len(data)}
    code = api.post(f"/api/v1/projects/{project.slug}/code-snapshots/", body).json()
    storage.objects().put(CodeSnapshot.objects.get(pk=code["id"]).key, data)
    api.post(f"/api/v1/code-snapshots/{code['id']}/complete/")
    answer = api.post(
        f"/api/v1/projects/{project.slug}/runs/",
        {
            "command": ["python", "train.py"],
            "code_snapshot": code["id"],
            "parameters": {"rate": 0.1},
            "resources": {"memory_bytes": 512 << 20},
        },
    )
    assert answer.status_code == 201, answer.json()
    run = Run.objects.get(pk=answer.json()["id"])
    reconcile_until(run, states.SUCCEEDED, timeout_s=200)
    runtime = Runtime.objects.get()
    assert runtime.state == states.READY
    assert runtime.size_bytes > 0
    text = b"".join(frame.payload for frame in logs.read(run.attempts.get(), 0, 1 << 20).frames)
    assert b"params" in text
    assert b"0.1" in text
    shown = api.get(f"/api/v1/runs/{run.pk}/").json()
    assert shown["metrics_summary"]["loss"] == pytest.approx(0.05)
    assert shown["progress"] == 1.0
    system = [m["key"] for m in api.get(f"/api/v1/runs/{run.pk}/metrics/").json()]
    assert "loss" in system
