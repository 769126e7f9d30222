"""Write the chart's files that follow from the code: the schema of its values, and its rights.

`python -m deploy.helm.generate` writes them; with `--check` it ends with 1 where one differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import SecretStr

from atom.clusters.registration.engines.rights import needed_rights, rules_of
from atom.settings.environment import Environment

Json = dict[str, Any]

CHART = Path(__file__).parent / "atom"
OPTIONAL_GROUPS = ("resource.k8s.io", "kueue.x-k8s.io", "data.fluid.io")
# The chart sets them, or they belong to a part that it does not start.
_NOT_FREE = {
    "ATOM_HOME",
    "ATOM_PUBLIC_URL",
    "ATOM_WEB_HOST",
    "ATOM_WEB_PORT",
    "ATOM_WEB_PROCESSES",
    "ATOM_S3_GATEWAY_PORT",
    "ATOM_GATEWAY_PORT",
    "ATOM_GATEWAY_URL",
    "ATOM_FRONTEND_DIST",
    "ATOM_DATABASE_POOL_SIZE",
    "ATOM_DATABASE_KEPT_S",
    "ATOM_DATABASE_PATIENCE_S",
    "ATOM_STORE_PATIENCE_S",
    "S3_ENDPOINT_URL",
    "S3_PUBLIC_ENDPOINT_URL",
    "S3_BUCKET",
    "S3_REGION",
    "S3_ACCESS_KEY_ID",
}
_TEXT: Json = {"type": "string"}
_PORT: Json = {"type": "integer", "minimum": 1, "maximum": 65535}
# Values of Kubernetes, which checks them itself.
_FREE_FORM = ("resources", "annotations", "nodeSelector")
_EXACT: dict[str, Json] = {
    "publicUrl": _TEXT | {"pattern": "^https?://[^/]+$"},
    "image.pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
    "image.digest": _TEXT | {"pattern": "^(sha256:[0-9a-f]{64})?$"},
    "trial.password": _TEXT | {"pattern": "^(.{16,})?$"},
    "agent.image.digest": _TEXT | {"pattern": "^(sha256:[0-9a-f]{64})?$"},
    "agent.cluster": _TEXT | {"pattern": "^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"},
    "agent.audience": _TEXT | {"pattern": "^(atom\\.dev/[0-9a-f]{16})?$"},
    "agent.cacheFolder": _TEXT | {"pattern": "^/."},
    "agent.volumes.kubeletFolder": _TEXT | {"pattern": "^/."},
    "agent.tolerations": {"type": "array", "items": {"type": "object"}},
    "networkPolicies.egressPorts": {"type": "array", "items": _PORT},
}


def values_schema() -> Json:
    """Return the JSON schema of the values; a key that values.yaml lacks is refused."""
    schema = _schema(yaml.safe_load((CHART / "values.yaml").read_text()), "")
    # Helm itself passes this one.
    schema["properties"]["global"] = {"type": "object"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def free_settings() -> list[str]:
    """Return the variables of the server that `settings` may set: no secrets."""
    return sorted(
        name.upper()
        for name, field in Environment.model_fields.items()
        if field.annotation is not SecretStr and name.upper() not in _NOT_FREE
    )


def rights() -> Json:
    """Return the rules of the account's ClusterRole and Role."""
    needed = needed_rights(OPTIONAL_GROUPS)
    return {
        "cluster": rules_of([right for right in needed if not right.namespaced]),
        "namespace": rules_of([right for right in needed if right.namespaced]),
    }


def _schema(value: Any, path: str) -> Json:
    if path in _EXACT:
        return _EXACT[path]
    if path == "settings":
        return _object(dict.fromkeys(free_settings(), _TEXT))
    if path.endswith(_FREE_FORM):
        return {"type": "object"}
    if isinstance(value, dict):
        return _object(
            {key: _schema(item, f"{path}.{key}".strip(".")) for key, item in value.items()}
        )
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer", "minimum": 1}
    return {"type": "array", "items": _TEXT} if isinstance(value, list) else _TEXT


def _object(properties: Json) -> Json:
    return {"type": "object", "additionalProperties": False, "properties": properties}


_FILES: dict[str, Callable[[], Json]] = {
    "values.schema.json": values_schema,
    "files/rights.json": rights,
}


def outdated() -> Iterator[tuple[Path, str]]:
    """Yield each file that differs from what the code gives, with its new text."""
    for name, make in _FILES.items():
        path, text = CHART / name, json.dumps(make(), indent=2) + "\n"
        if not path.exists() or path.read_text() != text:
            yield path, text


def main() -> None:
    """Write the files, or check them."""
    changed = list(outdated())
    if sys.argv[1:] == ["--check"]:
        names = ", ".join(path.name for path, _ in changed)
        sys.exit(f"The chart's files changed: {names}. Run make chart." if changed else 0)
    for path, text in changed:
        path.write_text(text)


if __name__ == "__main__":
    main()
