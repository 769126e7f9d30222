"""The thread of a run: who may speak, whom a comment names, whose it is."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project, User
from atom.jobs.models import Run
from atom.jobs.runs.engines.mentions import named_in
from tests.factories.accounts import make_member, make_user
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db


def as_(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def url_of(run: Run, comment: str = "") -> str:
    return f"/api/v1/runs/{run.pk}/comments/" + (f"{comment}/" if comment else "")


def say(run: Run, user: User, text: str) -> Any:
    return as_(user).post(url_of(run), {"text": text}, format="json")


def test_members_talk_about_a_run_and_name_each_other(project: Project) -> None:
    run = make_run(project)
    bo, ada = make_member(project, "viewer"), make_member(project)
    stranger = make_user()
    text = f"@{ada.username}, look. Not @{stranger.username}, not mail@{ada.username}."
    made = say(run, bo, text)
    assert made.status_code == 201, made.json()
    say(run, ada, f"Yes @{bo.username}.")
    first, second = as_(ada).get(url_of(run)).json()["results"]
    assert (first["text"], first["author"]["username"]) == (text, bo.username)
    assert [one["username"] for one in first["mentioned"]] == [ada.username]
    assert [one["username"] for one in second["mentioned"]] == [bo.username]
    verbs = AuditEvent.objects.filter(verb="run.commented").values_list("actor", flat=True)
    assert set(verbs) == {bo.pk, ada.pk}


def test_only_its_author_changes_or_removes_a_comment(project: Project) -> None:
    run = make_run(project)
    bo, ada = make_member(project), make_member(project, "admin")
    comment = say(run, bo, "first")
    mine = url_of(run, comment.json()["id"])
    refused = as_(ada).patch(mine, {"text": "other"}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_your_comment")
    assert as_(ada).delete(mine).status_code == 403
    changed = as_(bo).patch(mine, {"text": f"second @{ada.username}"}, format="json").json()
    assert changed["edited_at"] is not None
    assert [one["username"] for one in changed["mentioned"]] == [ada.username]
    assert as_(bo).delete(mine).status_code == 204
    assert as_(bo).delete(mine).status_code == 404
    assert as_(bo).get(url_of(run)).json()["results"] == []


def test_strangers_learn_nothing_and_a_comment_belongs_to_its_run(project: Project) -> None:
    run, other = make_run(project), make_run(project)
    bo = make_member(project)
    made = say(run, bo, "hello").json()
    stranger = make_user()
    assert as_(stranger).get(url_of(run)).status_code == 404
    assert say(run, stranger, "hello").status_code == 404
    assert as_(bo).delete(url_of(other, made["id"])).status_code == 404


@pytest.mark.parametrize("text", ["", "   ", "x" * 10_001, 5, None, ["a"], "a\0b"])
def test_what_is_no_text_is_refused(project: Project, text: Any) -> None:
    assert say(make_run(project), make_member(project), text).status_code == 400


def test_a_page_of_comments_takes_as_many_queries_as_one(
    project: Project, django_assert_num_queries: Any
) -> None:
    run, bo = make_run(project), make_member(project)
    client = as_(bo)
    say(run, bo, f"@{bo.username}")
    with django_assert_num_queries(4):
        client.get(url_of(run))
    for _ in range(5):
        say(run, bo, f"@{bo.username}")
    with django_assert_num_queries(4):
        client.get(url_of(run))


def test_what_may_be_a_name() -> None:
    assert named_in("a@b.org @bo. (@ada) @") == ["bo.", "bo", "ada"]
    assert len(named_in(" ".join(f"@u{number}" for number in range(5000)))) <= 101
