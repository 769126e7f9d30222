"""The description of a dataset is changed by those who may write."""

from __future__ import annotations

import json

from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import AuditEvent
from atom.core import storage
from atom.datasets import keys
from atom.datasets.models import Dataset
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member


def test_a_description_is_replaced_and_written_to_the_bucket(pusher: Pusher) -> None:
    answer = pusher.client.patch(pusher.base, {"description": "Cats only"})
    assert (answer.status_code, answer.json()["description"]) == (200, "Cats only")
    assert pusher.client.patch(pusher.base, {"description": "Cats only"}).status_code == 200

    dataset = Dataset.objects.get(project=pusher.project, name="digits")
    key = keys.dataset_key(dataset.pk, dataset.revision)
    document = json.loads(storage.project_store(pusher.project).get(key))
    assert document["description"] == "Cats only"
    assert AuditEvent.objects.filter(verb="dataset.described").count() == 1


def test_viewers_and_tokens_that_only_push_describe_nothing(pusher: Pusher) -> None:
    viewer = APIClient()
    viewer.force_authenticate(make_member(pusher.project, "viewer"))
    pushing = APIClient()
    secret = create_token(pusher.user, "ci", ["push"]).secret
    pushing.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    for client in (viewer, pushing):
        assert client.patch(pusher.base, {"description": "Cats only"}).status_code == 403
    assert pusher.get("")["description"] == ""


def test_a_description_must_be_given(pusher: Pusher) -> None:
    assert pusher.client.patch(pusher.base, {}).status_code == 400
