"""Credentials of registries: checked when they are kept, and in a namespace only while they are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.executors.kubernetes.engines import names
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

SECRET = "/api/v1/projects/vision/secrets/DOCKER_AUTH_CONFIG/"
AUTH = base64.b64encode(b"bot:secret").decode()


@pytest.fixture
def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, "admin"))
    return client


def keep(api: APIClient, config: object) -> Any:
    value = config if isinstance(config, str) else json.dumps(config)
    return api.put(SECRET, {"value": value}, format="json")


def test_images_are_pulled_with_the_projects_credentials_while_it_has_them(
    api: APIClient, project: Project, world: World
) -> None:
    config = {
        "auths": {"ghcr.io": {"username": "bot", "password": "secret"}, "quay.io": {"auth": AUTH}},
        "HttpHeaders": {"User-Agent": "docker"},
    }
    assert keep(api, config).status_code == 201
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    pod = world.pod(placement)
    assert pod["spec"]["imagePullSecrets"] == [{"name": names.PULL_SECRET}]
    assert AUTH not in str(pod)
    place = (placement.namespace, names.PULL_SECRET)
    made = world.stand_in.store.get("secrets.", *place)
    assert made is not None
    assert made["type"] == "kubernetes.io/dockerconfigjson"
    content = json.loads(base64.b64decode(made["data"][".dockerconfigjson"]))
    assert content == {"auths": {"ghcr.io": {"auth": AUTH}, "quay.io": {"auth": AUTH}}}

    assert api.delete(SECRET).status_code == 204
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    assert "imagePullSecrets" not in world.pod(placement)["spec"]
    assert world.stand_in.store.get("secrets.", *place) is None


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("", "jobs.registry_config_invalid"),
        ("no JSON", "jobs.registry_config_invalid"),
        ("[" * 60_000, "jobs.registry_config_invalid"),
        ([], "jobs.registry_config_invalid"),
        ({}, "jobs.registry_config_invalid"),
        ({"auths": []}, "jobs.registry_config_invalid"),
        ({"auths": {}}, "jobs.registry_config_invalid"),
        ({"auths": {"ghcr.io": "x"}}, "jobs.registry_config_invalid"),
        ({"auths": {"ghcr.io": {"auth": "not base64"}}}, "jobs.registry_config_invalid"),
        ({"auths": {"ghcr.io": {"auth": "bm8="}}}, "jobs.registry_config_invalid"),
        ({"auths": {"ghcr.io": {"username": "bot"}}}, "jobs.registry_config_invalid"),
        ({"auths": {"ghcr.io": {}}, "credsStore": "x"}, "jobs.registry_config_in_helper"),
        (
            {"auths": {f"r{one}.io": {"auth": AUTH} for one in range(51)}},
            "jobs.registry_config_too_many",
        ),
    ],
)
def test_what_holds_no_credentials_is_refused(api: APIClient, config: object, code: str) -> None:
    answer = keep(api, config)
    assert answer.status_code == 400, answer.content
    if config:
        assert answer.json()["error_codes"]["value"][0]["code"] == code
