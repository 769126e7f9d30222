"""LabelX over HTTP, as tests ask it."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from atom.accounts.models import Project, User
from tests.factories.datasets import make_dataset, make_version
from tests.factories.labeling import unlabelled

V1 = "/api/v1"


class Api:
    """A signed-in person's calls."""

    def __init__(self, user: User | None = None) -> None:
        self.client = Client()
        if user is not None:
            self.client.force_login(user)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.generic(
            method,
            f"{V1}/{path}",
            data="" if body is None else json.dumps(body),
            content_type="application/json",
            headers=headers,
        )


def new_task(project: Project, **changes: Any) -> dict[str, Any]:
    dataset = make_dataset(project, "digits")
    make_version(dataset, {**unlabelled(3), "1/a.png": "1"})
    body = {
        "name": "numbers",
        "dataset": "digits@v1",
        "labels": [{"name": str(n)} for n in range(10)],
        "filter": {"labelled": False},
        "audit_percent": 100,
        "guideline": "Look closely.",
    }
    return {**body, **changes}
