"""The credentials with which a project's pods pull images: one Secret in its namespace."""

from __future__ import annotations

import base64
import json
from typing import Any

from atom.clusters.engines.registry_configs import SECRET_NAME, WrongConfigError, parse_config
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.core import clock, crypto
from atom.jobs.executors.base import LaunchFailedError
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import Order
from atom.jobs.executors.kubernetes.paths import path_of
from atom.jobs.models import ProjectSecret

_NOT_FOUND = 404


def pull_secrets_of(project: str) -> tuple[str, ...]:
    """Return the names of the Secrets with which a project's pods pull images."""
    return (names.PULL_SECRET,) if _stored(project) is not None else ()


def sync_pull_secret(api: ClusterConnection, order: Order) -> None:
    """Make the Secret what the project has now; without credentials it goes.

    Its name is fixed: to find old ones, Atom would need the right to read all Secrets.
    Raises LaunchFailedError, ClusterFailure.
    """
    path = f"{path_of('Secret', order.namespace)}/{names.PULL_SECRET}"
    if not order.image_pull_secrets:
        _delete(api, path)
        return
    stored = _stored(order.project)
    if stored is None:
        raise LaunchFailedError(f"The project has no secret {SECRET_NAME} any more.")
    try:
        config = parse_config(crypto.decrypt(stored.encrypted_value))
    except crypto.BadSignature as error:
        text = f"The secret {SECRET_NAME} was stored with another encryption key. Set it again."
        raise LaunchFailedError(text) from error
    except WrongConfigError as error:
        raise LaunchFailedError(f"{SECRET_NAME}: {error.sentence}") from error
    api.apply(path, _secret(order, config), names.MANAGER, force=True)
    ProjectSecret.objects.filter(pk=stored.pk).update(last_used_at=clock.now())


def _stored(project: str) -> ProjectSecret | None:
    return ProjectSecret.objects.filter(project__slug=project, name=SECRET_NAME).first()


def _secret(order: Order, config: dict[str, Any]) -> dict[str, Any]:
    content = base64.b64encode(json.dumps(config, sort_keys=True).encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": names.PULL_SECRET,
            "namespace": order.namespace,
            "labels": {
                names.MANAGED_BY: names.MANAGER,
                names.INSTALLATION: order.installation,
                names.PROJECT: order.project,
            },
        },
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": content},
    }


def _delete(api: ClusterConnection, path: str) -> None:
    try:
        api.delete(path)
    except ClusterForbids:
        return  # without the right, no Secret of ours was ever made
    except ClusterFails as error:
        if error.status_code != _NOT_FOUND:
            raise
