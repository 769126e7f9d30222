"""Secrets of a project: written by its people, read by its runs alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project
from atom.clusters.actions import ensure_local_node, reserve
from atom.clusters.models import Reservation
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import launch
from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.errors import SecretsMissing
from atom.jobs.models import ProjectSecret, Run
from atom.jobs.secrets.actions.secrets import MAX_SECRETS, MAX_VALUE_BYTES, remove_secret
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_attempt
from tests.jobs.asking import create

pytestmark = pytest.mark.django_db

SECRETS = "/api/v1/projects/vision/secrets/"
VALUE = "hf_0123456789"


def put(api: APIClient, name: str = "HF_TOKEN", **body: Any) -> Any:
    return api.put(f"{SECRETS}{name}/", {"value": VALUE, **body})


def as_member(project: Project, role: str) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, role))
    return client


def test_a_secret_is_listed_without_its_value(api: APIClient) -> None:
    made = put(api, description="reads models")
    assert made.status_code == 201
    listed = api.get(SECRETS)
    assert [(one["name"], one["description"]) for one in listed.json()["results"]] == [
        ("HF_TOKEN", "reads models")
    ]
    event = AuditEvent.objects.get(verb="secret.stored")
    assert event.data == {"name": "HF_TOKEN", "replaced": False}
    assert VALUE not in f"{made.content!r} {listed.content!r}"


def test_the_value_is_encrypted_in_the_database(api: APIClient) -> None:
    put(api)
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(s)::text FROM jobs_projectsecret s")
        assert VALUE not in cursor.fetchone()[0]


def test_a_new_value_takes_the_place_of_the_old_one_and_keeps_what_it_is_for(
    api: APIClient,
) -> None:
    put(api, description="reads models")
    again = put(api, value="another value")
    assert (again.status_code, again.json()["description"]) == (200, "reads models")
    create(api, command=["true"], secrets=["HF_TOKEN"])
    job = job_of(make_attempt(Run.objects.get()))
    assert job["secrets"] == {"HF_TOKEN": "another value"}


def test_a_run_gets_the_secrets_that_it_names(api: APIClient) -> None:
    put(api)
    put(api, "OTHER", value="another value")
    run = create(api, command=["true"], secrets=["HF_TOKEN"], env={"PLAIN": "1"}).json()
    assert (run["secrets"], run["env"]) == (["HF_TOKEN"], ["PLAIN"])
    job = job_of(make_attempt(Run.objects.get()))
    assert job["secrets"] == {"HF_TOKEN": VALUE}
    assert VALUE not in json.dumps({**job, "secrets": {}})
    assert api.get(SECRETS).json()["results"][0]["last_used_at"] is not None


def test_a_clone_gets_the_same_secrets(api: APIClient) -> None:
    put(api)
    run = create(api, command=["true"], secrets=["HF_TOKEN"]).json()
    clone = api.post(f"/api/v1/runs/{run['id']}/clone/").json()
    assert clone["secrets"] == ["HF_TOKEN"]


def test_a_run_that_names_no_secret_of_the_project_is_refused(api: APIClient) -> None:
    ProjectSecret.objects.create(
        project=make_project("other"),
        name="THEIRS",
        encrypted_value="x",
        set_at="2026-01-01T00:00Z",
    )
    answer = create(api, command=["true"], secrets=["THEIRS"])
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["secrets.THEIRS"])


def test_a_variable_comes_from_one_place(api: APIClient) -> None:
    put(api)
    answer = create(api, command=["true"], secrets=["HF_TOKEN"], env={"HF_TOKEN": "x"})
    assert list(answer.json()["errors"]) == ["env.HF_TOKEN"]


def test_a_run_whose_secret_was_removed_says_so_instead_of_starting_without(
    api: APIClient, project: Project
) -> None:
    put(api)
    create(api, command=["true"], secrets=["HF_TOKEN"])
    remove_secret(project, make_user(), "HF_TOKEN")
    with pytest.raises(SecretsMissing, match="HF_TOKEN"):
        job_of(make_attempt(Run.objects.get()))


@pytest.mark.parametrize("lost", ["removed", "other key"])
def test_a_run_whose_secret_cannot_be_read_fails_with_what_to_do(
    api: APIClient, project: Project, settings: Any, lost: str
) -> None:
    put(api)
    create(api, command=["true"], secrets=["HF_TOKEN"])
    attempt = make_attempt(Run.objects.get(), states.SUBMITTED)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    if lost == "removed":
        remove_secret(project, make_user(), "HF_TOKEN")
    else:
        settings.ATOM_ENCRYPTION_KEY = Fernet.generate_key().decode()
    launch.launch(attempt.pk)
    assert reconcile.advance(attempt.run_id) == states.FAILED
    told = api.get(f"/api/v1/runs/{attempt.run_id}/").json()
    assert (told["failure_class"], told["failure"]["code"]) == ("PREPARATION", "secrets_missing")
    assert "HF_TOKEN" in told["failure_reason"]
    assert told["suggestion"].startswith("Set the secret again")
    assert not Reservation.objects.exists()


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("1ST", {}, "name"),
        ("A-B", {}, "name"),
        ("ATOM_TOKEN", {}, "name"),
        ("LD_PRELOAD", {}, "name"),
        ("A" * 101, {}, "name"),
        ("OK", {"value": ""}, "value"),
        ("OK", {"value": 7}, "value"),
        ("OK", {"value": "a\0b"}, "value"),
        ("OK", {"value": "ü" * (MAX_VALUE_BYTES // 2 + 1)}, "value"),
        ("OK", {"description": "a\nb"}, "description"),
        ("OK", {"colour": "red"}, "colour"),
    ],
)
def test_what_no_variable_can_be_is_refused(
    api: APIClient, name: str, body: dict[str, Any], field: str
) -> None:
    answer = put(api, name, **body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert not ProjectSecret.objects.exists()


def test_a_value_stays_exactly_as_it_was_sent(api: APIClient) -> None:
    put(api, value="  two\nlines \n")
    create(api, command=["true"], secrets=["HF_TOKEN"])
    assert job_of(make_attempt(Run.objects.get()))["secrets"] == {"HF_TOKEN": "  two\nlines \n"}


def test_a_project_has_so_many_secrets_and_no_more(api: APIClient, project: Project) -> None:
    ProjectSecret.objects.bulk_create(
        ProjectSecret(
            project=project, name=f"S{n}", encrypted_value="x", set_at="2026-01-01T00:00Z"
        )
        for n in range(MAX_SECRETS)
    )
    assert put(api).json()["code"] == "too_many_secrets"
    assert put(api, "S7").status_code == 200


def test_who_may_not_start_runs_does_not_see_or_change_them(
    api: APIClient, project: Project
) -> None:
    put(api)
    for role in ("viewer", "labeler"):
        member = as_member(project, role)
        assert member.get(SECRETS).status_code == 403
        assert put(member, value="mine").status_code == 403
        assert member.delete(f"{SECRETS}HF_TOKEN/").status_code == 403
    stranger = as_member(make_project("elsewhere"), "admin")
    assert stranger.get(SECRETS).status_code == 404
    assert stranger.delete(f"{SECRETS}HF_TOKEN/").status_code == 404


def test_a_removed_secret_is_gone(api: APIClient) -> None:
    put(api)
    assert api.delete(f"{SECRETS}HF_TOKEN/").status_code == 204
    assert api.get(SECRETS).json()["results"] == []
    assert api.delete(f"{SECRETS}HF_TOKEN/").status_code == 404
