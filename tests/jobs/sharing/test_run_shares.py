"""Links that show one run to people without an account: who makes, lists and ends them."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner
from django.db.models.functions import Now
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.models import AuditEvent, Project, User
from atom.core.models import IdempotencyRecord
from atom.jobs.models import Run, RunShare
from atom.jobs.sharing.actions.shares import MAX_LIVING, end_unbacked
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client as AtomClient
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_run
from tests.jobs.share_requests import as_, look, make_maker, share, shares_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def maker(project: Project) -> User:
    return make_maker(project)


@pytest.fixture
def run(project: Project, maker: User) -> Run:
    return make_run(project, maker, name="the run")


def test_a_right_that_comes_back_brings_no_link_back(run: Run, maker: User) -> None:
    token, admin = share(run, maker)["token"], make_member(run.project, "admin")
    kept = share(run, admin)["token"]
    actions.change_role(maker, "viewer", run.project, admin)
    assert (end_unbacked(), end_unbacked()) == (1, 0)
    actions.change_role(maker, "admin", run.project, admin)
    assert [look(one).status_code for one in (token, kept)] == [404, 200]
    event = AuditEvent.objects.get(verb="run.share_ended")
    assert (event.actor, event.object_id) == (None, str(run.pk))


def test_the_token_is_told_once_and_kept_nowhere(
    run: Run, maker: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    client = as_(maker)
    key = {"Idempotency-Key": "k"}
    first, second = (
        client.post(shares_of(run), {"note": "Bo"}, format="json", headers=key).json()
        for _ in range(2)
    )
    # The answer is not replayed: to be replayed it would have to be kept.
    assert first["token"] != second["token"]
    look(first["token"])
    look(first["token"][:-1])
    tables = (RunShare, AuditEvent, IdempotencyRecord)
    rows = json.dumps([list(table.objects.values()) for table in tables], default=str)
    said = "".join(str(record.__dict__) for record in caplog.records)
    listed = client.get(shares_of(run)).content.decode()
    assert "shared-run" in said
    for secret in (first["token"], first["token"].removeprefix("atomshare_"), first["token"][:-1]):
        for text in (rows, said, listed):
            assert secret not in text
    event = AuditEvent.objects.filter(verb="run.shared").first()
    assert event is not None
    assert set(event.data) == {"name", "share", "note", "days", "with_log"}


def test_who_may_make_list_and_end_links(run: Run, maker: User) -> None:
    project = run.project
    viewer, other = make_member(project, "viewer"), make_member(project, "researcher")
    admin, stranger = make_member(project, "admin"), make_user()
    made, more = share(run, maker, note="Bo"), share(run, maker)
    assert as_(viewer).post(shares_of(run), {}, format="json").status_code == 403
    assert as_(stranger).post(shares_of(run), {}, format="json").status_code == 404
    assert as_(stranger).get(shares_of(run)).status_code == 404
    for member in (viewer, other):
        listed = as_(member).get(shares_of(run)).json()["results"]
        assert [one["id"] for one in listed] == [more["id"], made["id"]]
        assert set(made) - set(listed[1]) == {"token", "link"}
        refused = as_(member).delete(shares_of(run, made["id"]))
        assert (refused.status_code, refused.json()["code"]) == (403, "not_your_share")
    one = shares_of(run, made["id"])
    elsewhere = shares_of(make_run(project, maker), made["id"])
    assert as_(stranger).delete(one).status_code == 404
    assert as_(admin).delete(elsewhere).status_code == 404
    outside = make_member(make_project(), "admin")
    assert as_(outside).delete(one).status_code == 404
    actions.change_role(maker, "viewer", project, admin)
    assert as_(maker).delete(one).status_code == 204
    assert as_(admin).delete(shares_of(run, more["id"])).status_code == 204
    assert as_(admin).get(shares_of(run)).json() == {"enabled": True, "results": []}
    ended = AuditEvent.objects.filter(verb="run.share_ended").values_list("actor", flat=True)
    assert set(ended) == {maker.pk, admin.pk}


def test_a_token_of_a_program_makes_links_with_the_scope_to_write(run: Run, maker: User) -> None:
    for scope, status in (("read", 403), ("write", 201)):
        secret = actions.create_token(maker, scope, [scope]).secret
        program = APIClient(headers={"Authorization": f"Bearer {secret}"})
        assert program.post(shares_of(run), {}, format="json").status_code == status


def test_a_run_has_so_many_links_that_work(run: Run, maker: User) -> None:
    made = share(run, maker)
    rows = [{"token_hash": f"{n}", "expires_at": made["expires_at"]} for n in range(MAX_LIVING - 1)]
    RunShare.objects.bulk_create(RunShare(run=run, project=run.project, **row) for row in rows)
    refused = as_(maker).post(shares_of(run), {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_shares")
    as_(maker).delete(shares_of(run, made["id"]))
    share(run, maker)


def test_an_archived_run_gets_no_link(run: Run, maker: User) -> None:
    Run.objects.filter(pk=run.pk).update(archived_at=Now())
    refused = as_(maker).post(shares_of(run), {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "run_archived")


def test_a_wrong_link_is_refused(run: Run, maker: User) -> None:
    wrongs: tuple[dict[str, Any], ...] = (
        {"days": 0}, {"days": 91}, {"days": "soon"}, {"days": None}, {"note": "x" * 101},
        {"note": 7}, {"note": "a\nb"}, {"note": "a\0b"}, {"with_log": "maybe"},
        {"token": "mine"}, {"expires_at": "2030-01-01T00:00:00Z"},
    )  # fmt: skip
    client = as_(maker)
    for body in wrongs:
        answer = client.post(shares_of(run), body, format="json")
        assert answer.status_code == 400, body
        assert list(answer.json()["errors"]) == list(body)
    assert not RunShare.objects.exists()


def test_administrators_see_the_links_of_their_project(
    run: Run, maker: User, django_assert_max_num_queries: Any
) -> None:
    project, at = run.project, f"/api/v1/projects/{run.project.slug}/run-shares/"
    share(run, maker)
    other = make_project()
    boss = make_member(other, "admin")
    share(make_run(other, boss), boss)
    for user, status in ((maker, 403), (boss, 404)):
        assert as_(user).get(at).status_code == status
    admin = as_(make_member(project, "admin"))
    (listed,) = admin.get(at).json()["results"]
    assert listed["run"] == {"id": str(run.pk), "number": run.number, "name": "the run"}
    assert "token" not in listed
    for _ in range(5):
        share(make_run(project, maker), maker)
    with django_assert_max_num_queries(5):
        assert len(admin.get(at).json()["results"]) == 6


@pytest.mark.django_db(transaction=True)
def test_links_are_made_listed_and_ended_by_command(live_server: Any, project: Project) -> None:
    maker = make_member(project, "researcher", "ada")
    run = make_run(project, maker)
    secret = actions.create_token(maker, "cli", ["write"]).secret

    def command(*words: str) -> Any:
        context = Context()
        with AtomClient(live_server.url, secret, project.slug) as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["--json", "share", str(run.number), *words], obj=context,
                standalone_mode=False,
            )  # fmt: skip
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    made = command("--days", "3", "--note", "for Bo", "--with-log")
    assert look(made["token"]).json()["with_log"] is True
    assert [one["note"] for one in command("--list")["results"]] == ["for Bo"]
    assert command("--end", made["id"]) == {"ended": made["id"]}
    assert look(made["token"]).status_code == 404
    assert command()["with_log"] is False
    with pytest.raises(click.UsageError, match="no other option"):
        command("--list", "--days", "3")
