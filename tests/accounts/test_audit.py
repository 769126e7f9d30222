"""The audit trail as it is read: by filter, by page, as a file."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts import audit
from atom.accounts.models import AuditEvent, Project, User
from tests.factories.accounts import make_member, make_project
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db
AT, EXPORT = "/api/v1/audit/", "/api/v1/audit/export/"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def admin(project: Project) -> User:
    return make_member(project, "admin", "ada")


@pytest.fixture
def api(admin: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin)
    return client


def happened(project: Project, actor: User, verb: str, **data: Any) -> AuditEvent:
    return audit.record(actor, verb, project, project, **data)


def verbs(api: APIClient, **query: Any) -> list[str]:
    return [row["verb"] for row in api.get(AT, query).json()["results"]]


def text_of(answer: Any) -> str:
    return bytes_of(answer).decode()


def test_every_filter_narrows_the_trail(api: APIClient, project: Project, admin: User) -> None:
    other = make_member(project, "researcher", "bo")
    AuditEvent.objects.all().delete()
    old = happened(project, admin, "thing.created")
    AuditEvent.objects.filter(pk=old.pk).update(at=old.at - timedelta(days=3))
    happened(project, other, "thing.renamed")
    day = (old.at - timedelta(days=1)).isoformat()
    assert verbs(api) == ["thing.renamed", "thing.created"]
    assert verbs(api, actor="bo") == ["thing.renamed"]
    assert verbs(api, verb="thing.created", project="vision") == ["thing.created"]
    assert verbs(api, verb="thing") == ["thing.renamed", "thing.created"]
    assert verbs(api, verb="thin") == verbs(api, verb="%") == []
    assert verbs(api, **{"from": day}) == ["thing.renamed"]
    assert verbs(api, to=day) == ["thing.created"]
    assert len(verbs(api, object=str(project.pk))) == len(verbs(api, object="project")) == 2
    assert verbs(api, object="dataset") == []


@pytest.mark.parametrize("query", [{"from": "yesterday"}, {"to": "2026-01-01"}, {"by": "ada"}])
def test_a_wrong_filter_is_named(api: APIClient, query: dict[str, str]) -> None:
    for path in (AT, EXPORT):
        answer = api.get(path, query)
        assert (answer.status_code, list(answer.json()["errors"])) == (400, list(query))
    assert api.get(EXPORT, {"as": "xls"}).status_code == 400


def test_an_export_holds_what_the_filter_selects_and_no_formula(
    api: APIClient, project: Project, admin: User
) -> None:
    evil = User.objects.create_user("=cmd|'/C calc'!A0")
    happened(project, evil, "thing.created", name='名称, "quoted"\nnext line')
    happened(project, admin, "thing.renamed")
    rows = list(csv.DictReader(io.StringIO(text_of(api.get(EXPORT, {"verb": "thing.created"})))))
    assert [row["verb"] for row in rows] == ["thing.created"]
    assert rows[0]["actor"] == "'=cmd|'/C calc'!A0"
    assert json.loads(rows[0]["data"])["name"] == '名称, "quoted"\nnext line'
    lines = text_of(api.get(EXPORT, {"as": "jsonl", "object": "project"})).splitlines()
    assert {json.loads(line)["actor"] for line in lines} >= {"ada", "=cmd|'/C calc'!A0"}


def test_an_export_of_many_events_is_whole(
    api: APIClient, project: Project, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atom.accounts.api.audit_views._ROWS_AT_ONCE", 7)
    at = happened(project, admin, "thing.counted").at
    same: dict[str, Any] = {"at": at, "project": project, "actor_name": "ada"}
    same |= {"verb": "thing.counted", "object_type": "project"}
    AuditEvent.objects.bulk_create(
        AuditEvent(object_id=str(number), **same) for number in range(29)
    )
    query = {"as": "jsonl", "verb": "thing.counted"}
    ids = [json.loads(line)["id"] for line in text_of(api.get(EXPORT, query)).splitlines()]
    assert (len(ids), len(set(ids))) == (30, 30)


def test_the_trail_of_other_projects_is_in_no_export(api: APIClient) -> None:
    other = make_project("secret")
    happened(other, make_member(other, "admin", "eve"), "thing.created")
    assert "eve" not in text_of(api.get(EXPORT))
    assert api.get(EXPORT, {"project": "secret"}).status_code == 400
    viewer = APIClient()
    viewer.force_authenticate(make_member(other, "viewer"))
    assert viewer.get(EXPORT).status_code == 403
