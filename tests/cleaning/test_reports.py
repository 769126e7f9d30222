"""Cleaning reports over the API: start, measure, look at, remove, send to labeling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.core.management import call_command

from atom.accounts.models import AuditEvent
from atom.celery import app
from atom.cleaning import states, tasks
from atom.cleaning.actions.transitions import transition
from atom.cleaning.engines import findings
from atom.cleaning.models import CleaningReport
from atom.core.storage import project_store
from atom.datasets.commit_runner import run_commit
from atom.datasets.models import Version
from atom.jobs import states as job_states
from atom.jobs.models import Run
from atom.labeling.models import LabelTask
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.manifests import Entry, build_root, entries_table
from atom_sdk.manifests.objects import MemoryObjectStore
from atom_sdk.manifests.views import build_view
from atom_sdk.readers import LocalDataset
from atom_sdk.run.split import split_of
from tests.cleaning.pictures import (
    encoded,
    features,
    parquet,
    photo,
    troubled_files,
    workflow_module,
)
from tests.datasets.pushing import Pusher, make_pack
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt
from tests.factories.models_registry import store_file

FILES = troubled_files()
SMALL = {path: FILES[path] for path in ("good/0.png", "good/1.png", "same/0.png", "bad/dark.png")}


@pytest.fixture
def cleaned(pusher: Pusher) -> Iterator[Pusher]:
    """A pushed version, and the built-in workflows.

    Later tasks wait at the broker as they do in production, so that no run is built and started:
    each test carries on its own ones.
    """
    call_command("sync_workflows")
    pusher.push(SMALL, message="first")
    app.conf.task_always_eager = False
    yield pusher
    app.conf.task_always_eager = True


def started(pusher: Pusher, ref: str, **thresholds: Any) -> dict[str, Any]:
    """Start a report and let a worker begin with it."""
    report = pusher.post(f"versions/{ref}/cleaning/", thresholds)
    tasks.advance(report["id"])
    return read_report(pusher, report)


def at(pusher: Pusher, report: dict[str, Any], rest: str = "") -> str:
    return f"/api/v1/projects/{pusher.project.slug}/cleaning/{report['id']}/{rest}"


def read_report(
    pusher: Pusher, report: dict[str, Any], rest: str = "", **params: Any
) -> dict[str, Any]:
    answer = pusher.client.get(at(pusher, report, rest), params)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def measured(report_id: str, files: dict[str, bytes]) -> None:
    """Let the report's run succeed with what its workflow measures."""
    run = CleaningReport.objects.get(pk=report_id).run
    assert run is not None
    attempt = make_attempt(run, job_states.SUCCEEDED)
    store_file(attempt, "features.parquet", parquet(features(files)))
    tasks.advance(report_id)


def test_a_report_from_start_to_a_clean_version(cleaned: Pusher) -> None:
    report = started(cleaned, "v1")
    assert report["state"] == "measuring"
    run = Run.objects.get(pk=report["run"]["id"])
    assert run.workflow is not None
    assert (run.workflow.slug, run.parameters) == ("measure-images", {"dataset": "digits@v1"})
    twice = cleaned.client.post(cleaned.base + "versions/v1/cleaning/", {})
    assert (twice.status_code, twice.json()["code"]) == (409, "cleaning_under_way")
    early = cleaned.client.get(at(cleaned, report, "findings/"), {"kind": "dark"})
    assert (early.status_code, early.json()["code"]) == (409, "cleaning_report_not_ready")

    measured(report["id"], SMALL)
    ready = read_report(cleaned, report)
    assert (ready["state"], ready["image_count"], ready["is_partial"]) == ("ready", 4, False)
    counts = {one["kind"]: (one["items"], one["groups"]) for one in ready["counts"]}
    assert (counts["exact_duplicate"], counts["dark"], counts["leak"]) == ((1, 1), (1, 0), (0, 0))

    page = read_report(cleaned, report, "findings/", kind="exact_duplicate", limit=1)
    assert (page["total"], page["results"][0]["stays"]) == (2, True)
    assert page["results"][0]["entry"]["thumb_url"]
    rest = read_report(cleaned, report, "findings/", kind="exact_duplicate", cursor=page["next"])
    assert [row["path"] for row in rest["results"]] == ["same/0.png"]
    assert read_report(cleaned, report, "paths/", kind="exact_duplicate") == {
        "paths": ["same/0.png"],
        "next": None,
        "total": 1,
    }

    commit = cleaned.post(at(cleaned, report, "removals/"), {"paths": ["same/0.png"]})
    run_commit(commit["id"])
    done = cleaned.get(f"commits/{commit['id']}/")
    assert (done["state"], done["version"]["removed"]) == ("published", 1)
    assert done["version"]["message"] == "Remove 1 file that a cleaning report of v1 found"
    assert done["version"]["provenance"]["cleaning_report"] == report["id"]
    again = cleaned.client.post(at(cleaned, report, "removals/"), {"paths": ["same/0.png"]})
    assert (again.status_code, again.json()["code"]) == (409, "findings_outdated")

    # Every image of the next version was measured: nothing is read again.
    follow = started(cleaned, "v2", dark_bright=0)
    assert (follow["state"], follow["run"]) == ("ready", None)
    assert sum(one["items"] for one in follow["counts"]) == 0
    assert len(cleaned.get("versions/v2/cleaning/")["results"]) == 1
    verbs = set(AuditEvent.objects.values_list("verb", flat=True))
    assert {"cleaning_report.started", "run.created", "commit.requested"} <= verbs


def test_removals_that_meet_all_happen(cleaned: Pusher) -> None:
    report = started(cleaned, "v1")
    measured(report["id"], SMALL)
    same = read_report(cleaned, report, "paths/", kind="exact_duplicate")["paths"]
    dark = read_report(cleaned, report, "paths/", kind="dark")["paths"]
    removals = at(cleaned, report, "removals/")
    asked_for = [cleaned.post(removals, {"paths": paths}) for paths in (same, dark, same + dark)]
    for one in asked_for:
        run_commit(one["id"])
    done = [cleaned.get(f"commits/{one['id']}/") for one in asked_for]
    assert [(one["state"], one["unchanged"]) for one in done] == [
        ("published", False),
        ("published", False),
        ("published", True),
    ]
    assert done[1]["version"]["parents"] == [done[0]["version"]["commit"]]
    good = cleaned.get("versions/v3/entries/", prefix="good/")["results"]
    assert [row["path"] for row in good] == ["good/0.png", "good/1.png"]


def test_a_file_that_became_another_before_the_worker_came_stays(cleaned: Pusher) -> None:
    report = started(cleaned, "v1")
    measured(report["id"], SMALL)
    [path] = read_report(cleaned, report, "paths/", kind="exact_duplicate")["paths"]
    asked_for = cleaned.post(at(cleaned, report, "removals/"), {"paths": [path]})
    app.conf.task_always_eager = True
    cleaned.push({path: FILES["good/1.png"]})
    app.conf.task_always_eager = False
    run_commit(asked_for["id"])
    done = cleaned.get(f"commits/{asked_for['id']}/")
    assert (done["state"], done["error"]["code"]) == ("failed", "files_changed")
    assert done["error"]["detail"] == f"v2 has other files at {path}."


def test_only_new_images_are_measured_for_the_next_version(cleaned: Pusher, client: Client) -> None:
    measured(started(cleaned, "v1")["id"], SMALL)
    app.conf.task_always_eager = True
    # All is known: by the command, a report and its removal are made on the spot.
    context = Context()
    context._client = client
    words = ["data", "clean", "digits@v1", "--remove", "exact_duplicate", "--json"]
    done = CliRunner().invoke(cli, words, obj=context, catch_exceptions=False)
    said = json.loads(done.stdout)
    assert (said["report"]["state"], said["report"]["run"]) == ("ready", None)
    assert [(one["ref"], one["removed"]) for one in said["versions"]] == [("v2", 1)]
    table = CliRunner().invoke(cli, words[:3], obj=context, catch_exceptions=False)
    assert "exact duplicate  1" in table.stdout

    cleaned.push({"new.png": encoded(photo(50)), "bad/dark.png": encoded(photo(51))})
    app.conf.task_always_eager = False
    first = said["report"]
    late = cleaned.client.post(at(cleaned, first, "removals/"), {"paths": ["bad/dark.png"]})
    assert (late.status_code, late.json()["paths"]) == (409, ["bad/dark.png"])

    third = started(cleaned, "main")
    assert third["state"] == "measuring"
    given = Run.objects.get(pk=third["run"]["id"]).files.get()
    assert given.path == "known/features.parquet"
    stopped = cleaned.post(at(cleaned, third, "cancel/"), {})
    assert (stopped["state"], stopped["run"]["state"]) == ("cancelled", "cancelled")
    late = cleaned.client.post(at(cleaned, third, "cancel/"), {})
    assert (late.status_code, late.json()["code"]) == (409, "cleaning_report_over")


def test_findings_become_a_label_task_of_just_these_files(cleaned: Pusher) -> None:
    body = {
        "name": "Look again",
        "dataset": "digits@v1",
        "labels": [{"name": "keep"}],
        "filter": {"labelled": None, "paths": ["good/1.png", "bad/dark.png", "gone.png"]},
    }
    cleaned.post(f"/api/v1/projects/{cleaned.project.slug}/labelx/tasks/", body)
    paths = LabelTask.objects.get().items.order_by("path").values_list("path", flat=True)
    assert list(paths) == ["bad/dark.png", "good/1.png"]


@pytest.fixture
def pending(db: None) -> CleaningReport:
    """A report of a version with one image, not begun."""
    call_command("sync_workflows")
    version = make_version(make_dataset(), {"a.png": None})
    user = make_member(version.dataset.project, "researcher")
    return CleaningReport.objects.create(version=version, created_by=user)


def state_of(report: CleaningReport) -> tuple[str, str]:
    report.refresh_from_db()
    return report.state, report.error_code


def test_a_run_that_failed_fails_the_report_and_says_why(pending: CleaningReport) -> None:
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.MEASURING, "")
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.MEASURING, "")
    assert pending.run is not None
    make_attempt(pending.run, job_states.FAILED)
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.FAILED, "measuring_failed")
    assert f"Run {pending.run.number} is failed" in pending.error_detail


@pytest.mark.parametrize("left", [None, b"no parquet"])
def test_a_run_that_left_nothing_readable_fails_the_report(
    pending: CleaningReport, left: bytes | None
) -> None:
    tasks.advance(str(pending.pk))
    pending.refresh_from_db()
    assert pending.run is not None
    attempt = make_attempt(pending.run, job_states.SUCCEEDED)
    if left is not None:
        store_file(attempt, "features.parquet", left)
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.FAILED, "image_features_malformed")


def test_a_report_that_kills_its_worker_is_given_up(pending: CleaningReport) -> None:
    CleaningReport.objects.update(tries=5)
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.FAILED, "cleaning_given_up")


def test_a_report_that_was_cancelled_stays_so(pending: CleaningReport) -> None:
    CleaningReport.objects.update(state=states.CANCELLED)
    assert not transition(pending, states.COMPARING)
    tasks.advance(str(pending.pk))
    assert state_of(pending) == (states.CANCELLED, "")
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_what_nobody_can_mean_is_refused() -> None:
    project = make_project()
    pusher = Pusher(project, make_member(project, "researcher"))
    version: Version = make_version(make_dataset(project, "digits"), {"a.png": None})
    report = {"id": CleaningReport.objects.create(version=version, state=states.READY).pk}
    store = project_store(project)
    table = findings.SCHEMA.empty_table()
    store.put(f"cleaning/{report['id']}/findings.parquet", findings.write_findings(table))
    viewer = Pusher(project, make_member(project, "viewer"))
    starts = pusher.base + "versions/v1/cleaning/"
    refused = [
        (pusher.client.post(starts, {"near_distance": 11}), 400, "near_distance"),
        (pusher.client.post(starts, {"dark": 1}), 400, "dark"),
        (viewer.client.post(starts, {}), 403, "role_too_low"),
        (pusher.client.get(at(pusher, report, "findings/")), 400, "kind"),
        (pusher.client.get(at(pusher, report, "paths/"), {"kind": "ugly"}), 400, "kind"),
        (pusher.client.get(at(pusher, report, "findings/"), {"kind": "dark", "cursor": "x"}),
         400, "cursor"),
        (pusher.client.post(at(pusher, report, "removals/"), {"paths": []}), 400, "paths"),
        (pusher.client.post(at(pusher, report, "removals/"), {"paths": ["a.png"]}),
         400, "not_a_finding"),
        (viewer.client.post(at(pusher, report, "removals/"), {"paths": ["a.png"]}),
         403, "role_too_low"),
    ]  # fmt: skip
    for answer, status, named in refused:
        assert answer.status_code == status, answer.content
        assert named in answer.content.decode()


def test_the_workflow_reads_only_what_was_not_measured_before(tmp_path: Path) -> None:
    pack = make_pack(SMALL)
    (tmp_path / f"{pack.digest}.tar").write_bytes(pack.data)
    index = _view(tmp_path, pack)
    samples = split_of(LocalDataset(index, tmp_path), None)
    measure, table = workflow_module("measure"), workflow_module("feature_table")

    everything = measure.features_of(samples, table.SCHEMA.empty_table())
    assert everything.equals(features(SMALL))
    moved = everything.set_column(
        0, everything.schema.field("path"), [[f"old/{row}" for row in range(len(everything))]]
    )
    (tmp_path / f"{pack.digest}.tar").unlink()
    assert measure.features_of(split_of(LocalDataset(index, tmp_path), None), moved).equals(
        everything
    )


def _view(folder: Path, pack: Any) -> Path:
    store = MemoryObjectStore()
    entries = entries_table(
        Entry(one.path, one.size, one.digest, "image/png", None, bytes.fromhex(pack.digest),
              one.offset)
        for one in pack.members
    )  # fmt: skip
    build_view(build_root([entries], store), store, folder / "view.arrow")
    return folder / "view.arrow"
