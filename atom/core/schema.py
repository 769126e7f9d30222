"""OpenAPI: every operation declares its errors, so that generated clients are typed."""

from __future__ import annotations

from typing import Any

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "action"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable, for programs."},
        "detail": {"type": "string", "description": "A plain sentence, for people."},
        "action": {"type": "string", "description": "What to do next."},
        "request_id": {"type": "string", "nullable": True},
        "errors": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "Messages per field.",
        },
    },
    "additionalProperties": True,
}
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})


def add_problem_responses(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular post-processing hook: a `default` problem+json response everywhere."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _PROBLEM
    reference = {"$ref": "#/components/schemas/Problem"}
    response = {
        "description": "The request failed.",
        "content": {"application/problem+json": {"schema": reference}},
    }
    for path in result.get("paths", {}).values():
        for method, operation in path.items():
            if method in _METHODS:
                operation["responses"]["default"] = response
    return result
