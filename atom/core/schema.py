"""OpenAPI: every operation declares its errors, so that generated clients are typed."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
)
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

_FIELD_ERROR = {
    "type": "object",
    "required": ["code", "params"],
    "properties": {
        "code": {"type": "string"},
        "params": {
            "type": "object",
            "additionalProperties": True,
            "description": "The `limit`, or the `input`, that the message names.",
        },
    },
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "action"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable, for programs."},
        "detail": {"type": "string", "description": "A plain sentence, for people."},
        "detail_code": {
            "type": "string",
            "description": "The code of the detail's sentence, stable, where it has one.",
        },
        "detail_params": {
            "type": "object",
            "additionalProperties": True,
            "description": "The values that the detail names, by name; a sentence is an object.",
        },
        "action": {"type": "string", "description": "The next step for a person."},
        "request_id": {"type": "string", "nullable": True},
        "errors": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "Messages per field.",
        },
        "error_codes": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": _FIELD_ERROR},
            "description": "Codes of the messages, in the same order: for programs.",
        },
    },
    "additionalProperties": True,
}
_TOO_MANY = "#/components/responses/TooManyRequests"
# Requests of runners are not limited: atom/accounts/middleware.py says why.
_UNLIMITED = "/api/v1/runner/"
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})


def add_problem_responses(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular post-processing hook: a `default` problem+json response everywhere."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _PROBLEM
    reference = {"$ref": "#/components/schemas/Problem"}
    response = {
        "description": "The request failed.",
        "content": {"application/problem+json": {"schema": reference}},
    }
    result["components"].setdefault("responses", {})["TooManyRequests"] = _too_many(response)
    for address, path in result.get("paths", {}).items():
        for method, operation in path.items():
            if method in _METHODS:
                operation["responses"]["default"] = response
                if not address.startswith(_UNLIMITED):
                    operation["responses"]["429"] = {"$ref": _TOO_MANY}
                if takes_key(operation):
                    reused = "The Idempotency-Key came with another request, or that still runs."
                    operation["responses"].setdefault("409", {**response, "description": reused})
    return result


def _too_many(response: dict[str, Any]) -> dict[str, Any]:
    said = {
        "Retry-After": "Seconds until one more request is answered.",
        "RateLimit-Limit": "How many requests may come at once; on every answer.",
        "RateLimit-Remaining": "How many of them are left; on every answer.",
        "RateLimit-Reset": "Seconds until all of them are there again; on every answer.",
    }
    headers = {
        name: {"description": text, "schema": {"type": "integer"}} for name, text in said.items()
    }
    return {**response, "description": "Too many requests by this caller.", "headers": headers}


def takes_key(operation: dict[str, Any]) -> bool:
    """Return whether an operation is carried out once for each Idempotency-Key."""
    return any(one.get("name") == "Idempotency-Key" for one in operation.get("parameters", ()))


class WholeAnswers(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """An answer holds every field of its model, also those that a request may leave out."""

    target_class = "rest_framework.serializers.ModelSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: str) -> Any:
        """Return the serializer's schema; in an answer all its properties are required."""
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        if direction == "response" and schema.get("properties"):
            schema["required"] = sorted(schema["properties"])
        return schema


def whole_list(row: type[serializers.Serializer[Any]], name: str) -> Any:
    """Describe `{results, next}` of a list that always comes whole: `next` is null."""
    fields = {"results": row(many=True), "next": serializers.CharField(allow_null=True)}
    return inline_serializer(name, fields)


class _BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer token in OpenAPI; the subclasses name which."""

    name: str
    description = ""

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Return the scheme's definition."""
        return {"type": "http", "scheme": "bearer", "description": self.description}


class PortalSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """The portal's session cookie."""

    target_class = "atom.accounts.authentication.SessionAuthentication"


class ApiTokenScheme(_BearerScheme):  # type: ignore[no-untyped-call]
    """API tokens of people and programs."""

    target_class = "atom.accounts.authentication.TokenAuthentication"
    name = "apiToken"
    description = "An API token: `atom_<prefix>_<secret>`."


class RunnerTokenScheme(_BearerScheme):  # type: ignore[no-untyped-call]
    """The token of one attempt."""

    target_class = "atom.jobs.attempts.api.runner.RunnerAuthentication"
    name = "runnerToken"
    description = "The token of one attempt: `atomrun_…`; good for that run only, until it ends."


class AgentTokenScheme(_BearerScheme):  # type: ignore[no-untyped-call]
    """The token of one node's agent."""

    target_class = "atom.cache.agents.api.agent_views.AgentAuthentication"
    name = "agentToken"
    description = "The token of a node's agent: `atomagent_…`; good for that node only, for a day."


class BuilderTokenScheme(_BearerScheme):  # type: ignore[no-untyped-call]
    """The token of one build of an environment."""

    target_class = "atom.jobs.attempts.api.runner_builds.BuilderAuthentication"
    name = "builderToken"
    description = "The token of one build: `atombuild_…`; good for that build only, until it ends."
