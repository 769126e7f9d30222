"""Programs that serve models are notified when one leaves the registry."""

from __future__ import annotations

from typing import Any

import pytest

from atom.core.models import OutboxEvent
from atom.models_registry import actions
from atom.models_registry.models import Alias, Model
from tests.factories.accounts import make_member
from tests.factories.models_registry import make_trained_run

pytestmark = pytest.mark.django_db


def moves() -> list[dict[str, Any]]:
    return [one.data for one in OutboxEvent.objects.filter(kind="alias.moved").order_by("at")]


def test_an_alias_that_goes_with_its_version_or_model_is_told() -> None:
    run = make_trained_run()
    user = make_member(run.project, "researcher")
    model = actions.create_model(run.project, user, "digits")
    first = actions.register(model, run, "model", user)
    second = actions.register(model, run, "model/weights.pt", user)
    actions.set_alias(model, "production", first, user)
    actions.set_alias(model, "candidate", second, user)
    OutboxEvent.objects.all().delete()

    actions.delete_version(first, user)
    assert moves() == [{"model": "digits", "alias": "production", "old": 1, "new": None}]
    assert Alias.objects.get().name == "candidate"
    actions.delete_model(model, user)
    assert moves()[1:] == [{"model": "digits", "alias": "candidate", "old": 2, "new": None}]
    assert not Model.objects.exists()
