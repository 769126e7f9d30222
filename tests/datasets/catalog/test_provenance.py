"""The provenance of a version: the client's words, and the server's own."""

from __future__ import annotations

import pytest

from atom.datasets.models import CommitRequest, WriteJob, Writer
from tests.datasets.pushing import changes_file, delete_row, new_pusher

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.mark.parametrize("way", ["commits", "writers", "write-jobs"])
def test_a_client_cannot_say_what_only_the_server_may_say(way: str) -> None:
    pusher = new_pusher()
    upload = pusher.stage(changes_file([delete_row("a")]), "changes")
    asked = {"commits": {"changes_upload": str(upload.pk)}, "write-jobs": {"name": "etl"}}
    forged = {
        "label_task": "0190c1f0-0000-7000-8000-000000000000",
        "made_by": {"run": "a"},
        "run": "a",
        "operation": "scan",
    }
    body = {**asked.get(way, {}), "provenance": forged}

    answer = pusher.client.post(f"{pusher.base}{way}/", body)

    assert answer.status_code == 400
    [said] = answer.json()["errors"]["provenance"]
    assert "label_task, made_by, operation" in said
    assert answer.json()["error_codes"]["provenance"][0]["code"] == "servers_own"
    assert not CommitRequest.objects.exists()
    assert not Writer.objects.exists()
    assert not WriteJob.objects.exists()

    allowed = pusher.post(f"{way}/", {**body, "provenance": {"run": "a", "source": "s3://b"}})
    assert allowed["id"]
