"""`atom data replicate` and `atom data replicas` by the real API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.datasets.models import Replica
from tests.datasets.buckets import Bucket
from tests.datasets.commands import Atom
from tests.datasets.pushing import Pusher, class_files
from tests.datasets.replicas.stores import add_store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


def test_a_version_is_replicated_kept_and_removed(pusher: Pusher, atom: Atom) -> None:
    pusher.push(class_files())
    store = add_store(Bucket(), egress_per_gib="0.09", write_per_gib="0", currency="EUR")
    code, shown, _ = atom("data", "replicate", "digits@v1", "--store", store.name, "--dry-run")
    assert code == 0
    assert "1 of 1 packs" in shown
    assert "0.00 EUR once, unknown a month" in shown
    assert not Replica.objects.exists()
    code, shown, _ = atom(
        "data", "replicate", "digits@v1", "--store", store.name, "--until", "30d", "--follow"
    )
    assert code == 0, shown
    assert "digits@v1 in frankfurt: there" in shown
    code, shown, _ = atom("data", "replicas", "digits@v1", "--store", store.name, "--pin")
    assert "pinned" in shown
    assert Replica.objects.get().ends_at is None
    code, shown, _ = atom("--json", "data", "replicas", "digits@v1")
    (row,) = json.loads(shown)
    assert (row["store"], row["state"], row["pinned"]) == ("frankfurt", "there", True)
    code, shown, _ = atom("data", "replicas", "digits@v1", "--store", store.name, "--remove")
    assert code == 0
    assert Replica.objects.get().state == "removing"


def test_an_end_is_asked_for_and_a_wrong_store_is_named(pusher: Pusher, atom: Atom) -> None:
    pusher.push(class_files())
    code, _, _ = atom("data", "replicate", "digits@v1", "--store", "nowhere")
    assert code == 2
    code, _, _ = atom("data", "replicate", "digits@v1", "--store", "nowhere", "--pin")
    assert code != 0
    assert not Replica.objects.exists()
