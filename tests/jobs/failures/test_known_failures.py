"""Failures that predefined workflows tell: a title, a next step and buttons, by code and params."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.datasets.models import Branch, Version
from atom.jobs import reconcile
from atom.jobs.failures.engines.failure_codes import (
    BAD_DATA,
    FAILURE_CLASSES,
    USER_CODE,
    FailureCode,
)
from atom.jobs.failures.engines.failures import ExitReport, Limits, classify, nothing_selected
from atom.jobs.failures.engines.known_failures import KNOWN, MAX_TEXT
from atom.jobs.failures.engines.public_messages import public_message
from atom.jobs.failures.engines.remedies import REMEDIES, Remedy, remedies_of
from atom.jobs.models import Run, RunInput
from atom.jobs.workflows.actions.workflows import BUILT_IN
from atom.notifications.engines.wording import title_of
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run, runner_headers

WORKFLOWS = BUILT_IN
NO_LABELS = {
    "code": "no_labels",
    "sentence": "None of the 60 images has a label.",
    "params": {"dataset": "flowers@v1", "files": 60, "class_folders": 3},
}
TRACEBACK = "Traceback (most recent call last):\n  File x\ndata.NoLabelsError: None of the 60"


def report(declared: dict[str, Any], exit_code: int = 1) -> ExitReport:
    return ExitReport("exited", exit_code, traceback=TRACEBACK, declared=declared)


def params_of(code: str) -> dict[str, Any]:
    known = KNOWN[code]
    return dict.fromkeys(known.texts, "x") | dict.fromkeys(known.numbers, 7)


def test_every_code_that_a_workflow_raises_is_known() -> None:
    source = "\n".join(path.read_text("utf-8") for path in WORKFLOWS.glob("*/*.py"))
    calls = re.findall(r'(?:RunFailure|Error|super\(\).__init__)\(\s*"([a-z_]+)"', source)
    assert set(calls) == set(KNOWN) - {FailureCode.SPLIT_EMPTY}


@pytest.mark.parametrize("code", sorted(KNOWN))
def test_a_known_reason_is_no_fault_of_the_code(code: str) -> None:
    failure = classify(report({"code": code, "params": params_of(code)}), Limits(1 << 30, None))
    assert failure is not None
    assert failure.failure_class in set(FAILURE_CLASSES) - {USER_CODE}
    assert failure.params == params_of(code)
    assert "{" not in failure.reason
    assert "traceback" not in failure.suggestion.lower()
    assert REMEDIES[code]


@pytest.mark.parametrize(
    "declared",
    [
        {"code": "struck_by_lightning", "params": {}},
        {"code": "out_of_memory", "params": {}},
        {"code": "no_labels", "params": {"dataset": "flowers@v1"}},
        {"code": "no_labels", "params": {"dataset": 3, "files": 60, "class_folders": 0}},
        {"code": "no_labels", "params": {"dataset": "a", "files": True, "class_folders": 0}},
        {"code": "no_labels", "params": "flowers"},
    ],
)
def test_what_is_not_known_is_told_as_any_other_error(declared: dict[str, Any]) -> None:
    failure = classify(report(declared), Limits(1 << 30, None))
    assert failure is not None
    assert failure.code is FailureCode.EXITED_WITH_ERROR


def test_a_command_that_ended_well_has_not_failed() -> None:
    assert classify(report(NO_LABELS, exit_code=0), Limits(1 << 30, None)) is None


def test_long_texts_are_cut_and_foreign_params_left_out() -> None:
    params = {"output": "o" * 1000, "host": "secret.example"}
    failure = classify(report({"code": "output_is_input", "params": params}), Limits(1 << 30, None))
    assert failure is not None
    assert failure.params == {"output": "o" * MAX_TEXT}


def test_folders_are_offered_as_labels_only_where_they_look_so() -> None:
    assert remedies_of("no_labels", NO_LABELS["params"])[0] is Remedy.LABEL_BY_FOLDER
    assert Remedy.LABEL_BY_FOLDER not in remedies_of("no_labels", {"class_folders": 0})
    assert Remedy.MAKE_TEST_SPLIT in remedies_of("split_empty", {"split": "test"})
    assert Remedy.MAKE_TEST_SPLIT not in remedies_of("split_empty", {"split": "holdout"})
    # Where all files are in a split, only drawing them again makes a test split.
    assert Remedy.DRAW_SPLITS in remedies_of("split_empty", {"split": "test"})
    assert Remedy.DRAW_SPLITS not in remedies_of("split_empty", {"split": "holdout"})


def test_an_empty_split_is_told_with_its_name() -> None:
    failure = nothing_selected("There is no sample.", dataset="shapes@v2", split="test")
    assert (failure.code, failure.reason) == (
        FailureCode.SPLIT_EMPTY,
        "No files in the split test of shapes@v2.",
    )
    by_query = nothing_selected("Nothing.", "shapes@v2")
    assert (by_query.code, by_query.failure_class) == (FailureCode.NOTHING_SELECTED, BAD_DATA)
    assert by_query.reason.startswith("No file of shapes@v2 matches the query")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("failure_class", FAILURE_CLASSES)
def test_notifications_have_words_for_every_class(failure_class: str, language: str) -> None:
    title = title_of("run.failed", {"name": "a", "failure_class": failure_class}, 1, language)
    assert failure_class not in title


def test_people_without_an_account_read_it_too() -> None:
    told = public_message({"code": "no_labels", "params": {"files": 60}}, "None.", with_log=False)
    assert (told.reason, told.code) == ("None.", "no_labels")


@pytest.mark.django_db
def test_the_api_tells_code_sentence_next_step_and_buttons() -> None:
    attempt = make_attempt(make_run(max_retries=0))
    body = {
        "exit_code": 1,
        "signal": None,
        "reason": "exited",
        "evidence": {"tail": "", "traceback": TRACEBACK, "declared": NO_LABELS},
    }
    answer = APIClient().post("/api/v1/runner/exit/", body, headers=runner_headers(attempt))
    assert answer.status_code == 200, answer.json()
    reconcile.advance(attempt.run_id)
    run = Run.objects.get(pk=attempt.run_id)
    client = APIClient()
    client.force_authenticate(make_member(run.project, "viewer"))
    shown = client.get(f"/api/v1/runs/{run.pk}/").json()
    attempt_shown = shown["attempts"][0]
    assert attempt_shown["failure_class"] == "BAD_DATA"
    assert attempt_shown["failure_reason"].startswith("No labels in flowers@v1")
    assert attempt_shown["failure"] == {
        "code": "no_labels",
        "params": NO_LABELS["params"],
        "remedies": ["label_by_folder", "label", "clone"],
    }


@pytest.mark.django_db
@pytest.mark.parametrize(("is_head", "branch"), [(True, "lab"), (False, "lab"), (None, "main")])
def test_buttons_of_a_failure_act_on_the_branch_of_its_version(
    is_head: bool | None, branch: str
) -> None:
    evidence = {"failure": {"code": "no_labels", "params": NO_LABELS["params"]}}
    run = make_attempt(make_run(failure_class="BAD_DATA"), evidence=evidence).run
    dataset = make_dataset(run.project, "flowers")
    version = make_version(dataset, {"a.png": None})
    RunInput.objects.create(run=run, alias="dataset", version=version)
    if is_head is not None:
        newer = version if is_head else make_version(dataset, {"b.png": None})
        _move_to_lab(version, newer)
        evidence["failure"]["params"] = {"dataset": f"flowers@{version.ref}"}
        run.attempts.update(evidence=evidence)
    client = APIClient()
    client.force_authenticate(make_member(run.project, "viewer"))
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["failure"]["branch"] == branch


def _move_to_lab(version: Version, head: Version) -> None:
    """Take a version off `main`, to a branch whose head came from it."""
    head.parents = [] if head == version else [version.commit]
    version.dataset.branches.filter(name="main").update(head=None)
    for one in {version, head}:
        one.number = None
        one.save()
    Branch.objects.create(dataset=version.dataset, name="lab", head=head)
