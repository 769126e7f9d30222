"""Names, tags, notes and stars of runs: who changed what meanwhile, and many runs at once."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import AuditEvent, Project
from atom.jobs import states
from atom.jobs.models import Run
from tests.datasets.commands import runner
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/vision/runs/"


def patch(api: APIClient, run: Run, **body: Any) -> Any:
    return api.patch(f"/api/v1/runs/{run.pk}/", body)


def many(api: APIClient, what: str, runs: list[Run], **body: Any) -> Any:
    return api.post(f"{URL}{what}/", {"runs": [str(run.pk) for run in runs], **body})


def test_notes_and_tags_are_kept_with_their_line_breaks(api: APIClient, project: Project) -> None:
    run = make_run(project, tags=["old"])
    notes = "# Why\n\n- <b>lower</b> rate\n  "
    answer = patch(api, run, notes=notes, tags=["new", "new", "b"], expected_revision=0)
    assert answer.status_code == 200, answer.json()
    found = answer.json()
    assert (found["notes"], found["tags"], found["revision"]) == (notes, ["new", "b"], 1)
    # The same once more is no change.
    assert patch(api, run, notes=notes, expected_revision=1).json()["revision"] == 1
    assert patch(api, run, starred=True).json()["starred"] is True
    events = AuditEvent.objects.filter(verb="run.described").order_by("pk")
    assert [event.data["changed"] for event in events] == [["notes", "tags"], ["starred"]]


def test_who_has_not_seen_the_last_change_is_told_of_it(api: APIClient, project: Project) -> None:
    run = make_run(project)
    patch(api, run, notes="mine", expected_revision=0)
    answer = patch(api, run, notes="yours", expected_revision=0)
    assert answer.status_code == 409
    problem = answer.json()
    assert problem["code"] == "run_changed"
    assert problem["current"] == {
        "name": run.name,
        "notes": "mine",
        "tags": [],
        "starred": False,
        "revision": 1,
    }
    unseen = patch(api, run, notes="yours")
    assert (unseen.status_code, list(unseen.json()["errors"])) == (400, ["expected_revision"])


def test_what_is_no_description_is_refused(api: APIClient, project: Project) -> None:
    run = make_run(project)
    for field, value in {
        "notes": "x" * 20_001,
        "tags": ["x"] * 31,
        "name": " ",
        "starred": None,
        "colour": "red",
    }.items():
        answer = patch(api, run, **{field: value}, expected_revision=0)
        assert list(answer.json()["errors"]) == [field]
    assert patch(api, run, notes=5, expected_revision=0).status_code == 400


def test_only_researchers_of_the_project_change_runs(project: Project) -> None:
    run = make_run(project)
    stranger, viewer = APIClient(), APIClient()
    stranger.force_authenticate(make_member(make_project("other"), "researcher"))
    viewer.force_authenticate(make_member(project, "viewer"))
    for client, status in ((stranger, 404), (viewer, 403)):
        assert patch(client, run, starred=True).status_code == status
        for what in ("tags", "cancel", "archive", "restore"):
            more = {"add": ["x"]} if what == "tags" else {}
            assert many(client, what, [run], **more).status_code == status


def test_tags_are_added_to_many_runs_beside_those_that_they_have(
    api: APIClient, project: Project
) -> None:
    one, other = make_run(project, tags=["a", "b"]), make_run(project, tags=["c"])
    answer = many(api, "tags", [one, other], add=["c", "d"], remove=["a"])
    assert set(answer.json()["changed"]) == {str(one.pk), str(other.pk)}
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.tags, other.tags, one.revision) == (["b", "c", "d"], ["c", "d"], 1)
    assert many(api, "tags", [one, other], add=["d"]).json()["changed"] == []
    full = many(api, "tags", [one], add=[f"t{number}" for number in range(28)])
    assert full.json()["code"] == "too_many_tags"
    assert many(api, "tags", [one]).status_code == 400


def test_runs_of_another_project_are_not_there(api: APIClient, project: Project) -> None:
    foreign = make_run(make_project("other"), state=states.FAILED)
    own = make_run(project, state=states.FAILED)
    assert many(api, "archive", [own, foreign]).status_code == 404
    own.refresh_from_db()
    assert own.archived_at is None
    for runs in ([], [own] * 201):
        assert many(api, "archive", runs).status_code == 400
    assert api.post(f"{URL}archive/", {"runs": "all"}).status_code == 400


def test_archived_runs_leave_the_list_and_come_back(api: APIClient, project: Project) -> None:
    over, active = make_run(project, state=states.FAILED), make_run(project)
    answer = many(api, "archive", [over, active]).json()
    assert answer["changed"] == [str(over.pk)]
    assert answer["refused"] == [
        {"run": str(active.pk), "number": active.number, "code": "still_active"}
    ]
    assert many(api, "archive", [over]).json() == {"changed": [], "refused": []}
    assert [row["id"] for row in api.get(URL).json()["results"]] == [str(active.pk)]
    archived = api.get(URL, {"search": "is:archived"}).json()["results"]
    assert [row["id"] for row in archived] == [str(over.pk)]
    assert many(api, "restore", [over, active]).json()["changed"] == [str(over.pk)]
    assert len(api.get(URL).json()["results"]) == 2
    verbs = AuditEvent.objects.filter(object_id=str(over.pk)).order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == ["run.archived", "run.restored"]


def test_many_runs_are_cancelled_though_one_is_over(api: APIClient, project: Project) -> None:
    over, waiting = make_run(project, state=states.FAILED), make_run(project)
    answer = many(api, "cancel", [over, waiting]).json()
    assert answer["changed"] == [str(waiting.pk)]
    assert [one["code"] for one in answer["refused"]] == ["not_cancellable"]
    waiting.refresh_from_db()
    assert waiting.state == states.CANCELLED


@pytest.mark.django_db(transaction=True)
def test_the_command_line_lists_tags_notes_and_archives(
    live: str,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = make_run(project, name="one", state=states.FAILED, parameters={"lr": 0.5})
    make_run(project, name="other", state=states.QUEUED, parameters={"lr": 2})
    token = create_token(make_member(project, "researcher"), "cli", ["write"])
    variables = {"ATOM_URL": live, "ATOM_TOKEN": token.secret, "ATOM_PROJECT": "vision"}
    atom = runner(monkeypatch, capsys, variables)

    def printed_by(*words: str) -> str:
        code, printed, wrong = atom(*words)
        assert code == 0, wrong
        return printed

    assert "one" in (text := printed_by("ls", "lr<1", "--column", "param.lr"))
    assert "0.5" in text
    assert "other" not in text
    assert "1 changed" in printed_by("tag", "one", "--add", "good")
    printed_by("note", "one", "first")
    assert printed_by("note", "one", "second", "--append").strip() == "first\nsecond"
    assert "good" in printed_by("get", "one")
    assert "stays: still_active" in printed_by("archive", "one", "other")
    assert "1 was so already" in printed_by("archive", "one")
    assert "failed" in printed_by("ls", "is:archived")
    assert "1 changed" in printed_by("archive", str(run.number), "--undo")
    assert "2 runs" in printed_by("ls", "--sums")
    assert "other" in printed_by("queue")
    code, _, wrong = atom("ls", "lr>")
    assert code != 0
    assert "Character 4" in wrong
