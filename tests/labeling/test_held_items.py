"""`client.labelx` lists what people hold, and frees it."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.actions import create_token
from atom.labeling.actions import leases
from atom_sdk.client import Client
from tests.factories.accounts import make_member
from tests.labeling.drawn import drawn_task

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_program_frees_what_somebody_holds(live_server: Any) -> None:
    task = drawn_task(3)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    secret = create_token(make_member(task.project, "researcher"), "cli", ["admin"]).secret
    with Client(live_server.url, secret, task.project.slug) as client:
        labelx = client.labelx
        [held] = labelx.items(str(task.pk), held=True)
        [holder] = held["holders"]
        assert (held["path"], holder["username"]) == (slot.work_item.path, labeler.username)
        assert holder["until"]
        labelx.free(holder["slot"])
        assert list(labelx.items(str(task.pk), held=True)) == []
        assert len(list(labelx.items(str(task.pk), state="ready"))) == 3
