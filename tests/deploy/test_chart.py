"""The Helm chart, rendered by Helm's own engine."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python
import httpx
import kubernetes_validate
import pytest
import yaml
from pydantic import SecretStr

from atom.clusters.registration.engines.rights import needed_rights
from atom.settings.environment import BASE_DIR, Environment
from deploy.helm.generate import OPTIONAL_GROUPS, free_settings, outdated
from tests.fakes.kubernetes.cluster import ADMIN_TOKEN, Cluster

CHART = BASE_DIR / "deploy" / "helm" / "atom"
EXTERNAL: dict[str, Any] = {
    "publicUrl": "https://atom.example.org",
    "secrets": {"application": "a", "database": "d", "valkey": "v", "s3": "s"},
    "s3": {"endpointUrl": "https://s3.example.org"},
}
CLUSTER = "0197f3a0-0000-7000-8000-000000000001"
AGENT = {"enabled": True, "cluster": CLUSTER, "audience": "atom.dev/0123456789abcdef"}
PASSWORD = "a-password-of-a-trial"
VALUES: dict[str, dict[str, Any]] = {
    "external": EXTERNAL,
    "trial": {"trial": {"enabled": True, "password": PASSWORD}},
    "available": EXTERNAL
    | {
        "web": {"replicas": 3},
        "watcher": {"replicas": 2},
        "worker": {"autoscaling": {"enabled": True}},
        "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls"},
        "settings": {"ATOM_CLUSTER_NETWORKS": "10.0.0.0/8"},
    },
    "agent": EXTERNAL | {"agent": AGENT | {"tolerations": [{"operator": "Exists"}]}},
    "open": EXTERNAL | {"networkPolicies": {"enabled": False}, "rbac": {"create": False}},
    "registry": EXTERNAL
    | {
        "image": {
            "repository": "registry.example.org/atom",
            "digest": "sha256:" + "0" * 64,
            "pullSecrets": ["pull"],
        }
    },
}
VOLUMES = EXTERNAL | {"agent": AGENT | {"volumes": {"enabled": True}}}
ALL_VALUES = VALUES | {"volumes": VOLUMES}
# Python, the C library, Django and Celery read these.
READ_BY_OTHERS = {
    "DJANGO_SETTINGS_MODULE",
    "PYTHONUNBUFFERED",
    "MALLOC_ARENA_MAX",
    "REMAP_SIGTERM",
    "CELERY_SKIP_CHECKS",
}
READ_AT_START = {"ATOM_READY_FILE", "ATOM_ALIVE_FILE", "ATOM_ADMIN_PASSWORD"}


def render(values: dict[str, Any], revision: int = 1) -> dict[str, str]:
    with helm_python.Chart.load(CHART) as chart:
        return chart.render(values, name="demo", namespace="atom", revision=revision)


def objects(values: dict[str, Any]) -> list[dict[str, Any]]:
    texts = render(values).values()
    return [item for text in texts for item in yaml.safe_load_all(text) if item]


def of_kind(values: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [item for item in objects(values) if item["kind"] == kind]


def pods(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in objects(values):
        if "template" in item.get("spec", {}):
            yield item["spec"]["template"]["spec"]


every_set = pytest.mark.parametrize("values", ALL_VALUES.values(), ids=ALL_VALUES)


@every_set
def test_helm_finds_no_fault(values: dict[str, Any]) -> None:
    report = helm_python.lint(CHART, values, strict=True)
    assert report["errors"] == []
    assert [item for item in report["messages"] if item["severity"] > 1] == []


@every_set
def test_two_renders_are_equal(values: dict[str, Any]) -> None:
    assert render(values) == render(values)


@every_set
@pytest.mark.parametrize("version", ["1.31", "1.34", "1.37"])
def test_kubernetes_knows_every_field(values: dict[str, Any], version: str) -> None:
    for item in objects(values):
        kubernetes_validate.validate(item, version, strict=True)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"wrker": {"replicas": 2}}, "wrker"),
        ({"worker": {"replica": 2}}, "replica"),
        ({"settings": {"ATOM_LOG_LEVLE": "INFO"}}, "ATOM_LOG_LEVLE"),
    ],
)
def test_a_typo_is_refused_by_its_name(values: dict[str, Any], name: str) -> None:
    with pytest.raises(helm_python.HelmError, match=name):
        render(EXTERNAL | values)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "s3.endpointUrl"),
        ({"trial": {"enabled": True}}, "trial.password"),
        (EXTERNAL | {"agent": {"enabled": True}}, "agent.audience"),
        (EXTERNAL | {"agent": AGENT | {"cluster": ""}}, "agent.cluster"),
    ],
)
def test_a_missing_value_is_named(values: dict[str, Any], name: str) -> None:
    with pytest.raises(helm_python.HelmError, match=name):
        render(values)


def test_secrets_stand_in_secrets_only() -> None:
    values = VALUES["trial"]
    [secret] = of_kind(values, "Secret")
    hidden = [text for key, text in secret["stringData"].items() if "." not in key]
    for item in objects(values):
        if item["kind"] != "Secret":
            assert not [text for text in hidden if text in json.dumps(item)], item["kind"]


@every_set
def test_the_server_reads_every_variable(values: dict[str, Any]) -> None:
    fields = {name.upper() for name in Environment.model_fields}
    [settings] = of_kind(values, "ConfigMap")
    names = set(settings["data"])
    for pod in pods(values):
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            if "envFrom" in container:
                names |= {entry["name"] for entry in container["env"]}
    assert names - fields == (names & (READ_BY_OTHERS | READ_AT_START))


def test_free_settings_are_those_of_the_server() -> None:
    free = set(free_settings())
    public = {
        name.upper()
        for name, field in Environment.model_fields.items()
        if field.annotation is not SecretStr
    }
    assert free <= public
    [settings] = of_kind(EXTERNAL, "ConfigMap")
    assert free & set(settings["data"]) <= {"ATOM_ALLOWED_HOSTS"}


def test_the_account_has_the_rights_of_the_table() -> None:
    granted = {
        (group, resource, verb, role["kind"] == "Role")
        for kind in ("ClusterRole", "Role")
        for role in of_kind(EXTERNAL, kind)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {
        (right.group, right.resource, right.verb, right.namespaced)
        for right in needed_rights(OPTIONAL_GROUPS)
    }


@every_set
def test_others_wait_for_the_migrations(values: dict[str, Any]) -> None:
    for item in of_kind(values, "Deployment"):
        [wait] = item["spec"]["template"]["spec"]["initContainers"]
        assert "manage.py migrate --check" in wait["command"][-1]


@pytest.mark.parametrize("values", ALL_VALUES.values(), ids=ALL_VALUES)
def test_each_container_that_lasts_has_a_liveness_probe(values: dict[str, Any]) -> None:
    lasting = [*of_kind(values, "Deployment"), *of_kind(values, "DaemonSet")]
    assert lasting
    for item in lasting:
        for container in item["spec"]["template"]["spec"]["containers"]:
            assert container.get("livenessProbe"), container["name"]


def test_a_process_is_alive_while_its_main_loop_has_turned_lately(tmp_path: Path) -> None:
    parts = {item["metadata"]["name"]: item for item in of_kind(EXTERNAL, "Deployment")}
    file = tmp_path / "alive"
    for name in ("demo-worker", "demo-beat", "demo-watcher"):
        [container] = parts[name]["spec"]["template"]["spec"]["containers"]
        [path] = [one["value"] for one in container["env"] if one["name"] == "ATOM_ALIVE_FILE"]
        command = container["livenessProbe"]["exec"]["command"]
        assert path in command[-1]
        probe = [*command[:-1], command[-1].replace(path, str(file))]

        def is_alive(probe: list[str] = probe) -> bool:
            return subprocess.run(probe, check=False, stderr=subprocess.DEVNULL).returncode == 0

        file.unlink(missing_ok=True)
        assert not is_alive()
        file.touch()
        assert is_alive()
        os.utime(file, (time.time() - 240,) * 2)
        assert not is_alive()


def test_each_revision_has_its_own_migration() -> None:
    assert "name: demo-migrate-7" in render(EXTERNAL, revision=7)["atom/templates/migrate.yaml"]


def test_the_driver_of_volumes_is_the_only_privileged_container() -> None:
    [driver] = of_kind(VOLUMES, "CSIDriver")
    assert driver["spec"]["podInfoOnMount"]
    containers = [container for pod in pods(VOLUMES) for container in pod["containers"]]
    privileged = [item for item in containers if item["securityContext"].get("privileged")]
    assert [item["name"] for item in privileged] == ["agent"]
    assert privileged[0]["securityContext"]["readOnlyRootFilesystem"]
    mounts = {item["mountPath"]: item for item in privileged[0]["volumeMounts"]}
    assert mounts["/var/lib/kubelet/pods"]["mountPropagation"] == "Bidirectional"
    assert not of_kind(VALUES["agent"], "CSIDriver")


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_no_container_may_gain_rights_or_write_its_root(values: dict[str, Any]) -> None:
    for pod in pods(values):
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"]
            assert not security["allowPrivilegeEscalation"]
            assert security["capabilities"] == {"drop": ["ALL"]}


@every_set
def test_a_server_accepts_every_object(values: dict[str, Any]) -> None:
    with Cluster(controllers=False) as cluster, httpx.Client(base_url=cluster.url) as client:
        client.headers["Authorization"] = f"Bearer {ADMIN_TOKEN}"
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "atom"}}
        for item in [namespace, *objects(values)]:
            version = item["apiVersion"]
            kind = cluster.machinery.registry.by_kind(version, item["kind"])
            assert kind is not None, item["kind"]
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            place = "/namespaces/atom" if kind.namespaced else ""
            url = f"{root}{place}/{kind.plural}"
            answer = client.post(url, params={"fieldValidation": "Strict"}, json=item)
            assert answer.status_code == 201, answer.text


def keys(value: Any, schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the keys of each object of the values beside those that the schema permits."""
    if "properties" in schema:
        yield set(value), set(schema["properties"])
        for name, item in value.items():
            yield from keys(item, schema["properties"].get(name, {}))


def test_the_values_and_their_schema_have_the_same_keys() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())
    # Helm passes `global`; the settings are all optional.
    del schema["properties"]["global"], values["settings"], schema["properties"]["settings"]
    for present, permitted in keys(values, schema):
        assert present == permitted


def test_the_generated_files_are_those_of_the_code() -> None:
    assert list(outdated()) == []
