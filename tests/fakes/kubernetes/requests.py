"""A request, read from its path, query and headers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from .access import ANONYMOUS, Question, User
from .errors import bad_request, method_not_allowed
from .registry import Registry
from .resources import Resource

Json = dict[str, Any]


@dataclass
class Request:
    """One request."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = ANONYMOUS
    # These are set when the path names a kind.
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    part: str = ""

    @property
    def content_type(self) -> str:
        """Return the media type of the body."""
        return self.headers.get("content-type", "application/json").split(";")[0].strip()

    @property
    def manager(self) -> str:
        """Return the manager of the fields that this request writes."""
        agent = self.headers.get("user-agent", "unknown").split("/")[0]
        return self.query.get("fieldManager") or agent

    @property
    def is_watch(self) -> bool:
        """Return whether the request asks for events."""
        return self.query.get("watch", "") in ("1", "true", "True") and self.method == "GET"

    @property
    def kind(self) -> Resource:
        """Return the kind that the path names."""
        if self.resource is None:
            raise RuntimeError(self.path)
        return self.resource

    @property
    def place(self) -> tuple[str, str]:
        """Return the namespace and the name."""
        return self.namespace, self.name

    def number(self, key: str) -> int | None:
        """Return a number of the query, or None."""
        text = self.query.get(key)
        if not text:
            return None
        try:
            return int(text)
        except ValueError:
            why = f'strconv.ParseInt: parsing "{text}": invalid syntax'
            raise bad_request(f"invalid query parameter {key}: {why}") from None

    def question(self) -> Question:
        """Return which access the request needs."""
        if self.resource is None:
            return Question(self.method.lower(), path=self.path)
        return Question(
            self.verb(),
            self.resource.group,
            self.resource.plural,
            self.part,
            self.namespace,
            self.name,
        )

    def verb(self) -> str:
        """Return the verb in the API's own terms; raise 405 for what does not exist."""
        if self.method == "GET":
            return "watch" if self.is_watch else "get" if self.name else "list"
        if self.method == "DELETE":
            return "delete" if self.name else "deletecollection"
        verbs = {"POST": "create", "PUT": "update", "PATCH": "patch"}
        return verbs.get(self.method, self.method.lower())

    def check_verb(self) -> None:
        """Raise 405 when the kind or the part lacks the verb, or the path does not take it."""
        resource = self.kind
        parts = resource.parts.get(self.part)
        verbs = parts[1] if parts else resource.verbs
        named = self.verb() in ("update", "patch", "delete", "get")
        unnamed = self.verb() in ("list", "create", "deletecollection")
        misplaced = (named and not self.name) or (unnamed and bool(self.name) and not self.part)
        if misplaced or self.verb() not in verbs:
            raise method_not_allowed()


def parse_query(text: str) -> dict[str, str]:
    """Return the query as a table; the last value of a key counts."""
    return dict(parse_qsl(text, keep_blank_values=True))


def resolve(request: Request, registry: Registry) -> bool:
    """Find the kind of a path; returns whether the path names one that is served."""
    parts = [part for part in request.path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return False
    spaced = rest[0] == "namespaces" and len(rest) > 2
    if spaced and not (not group and rest[2] in ("status", "finalize") and len(rest) == 3):
        request.namespace, rest = rest[1], rest[2:]
    resource = registry.find(group, version, rest[0])
    if resource is None or len(rest) > 3 or (request.namespace and not resource.namespaced):
        return False
    request.name = rest[1] if len(rest) > 1 else ""
    request.part = rest[2] if len(rest) > 2 else ""
    if request.part and request.part not in resource.parts:
        return False
    if request.name and resource.namespaced and not request.namespace:
        return False
    request.resource = resource
    return True
