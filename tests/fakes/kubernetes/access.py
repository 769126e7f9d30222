"""Users, their tokens and their rights by RBAC, and the reviews that ask about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .errors import ApiError, bad_request, forbidden, unauthorized
from .store import Store
from .tokens import Signer

Json = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"
MASTERS = "system:masters"


@dataclass(frozen=True)
class User:
    """A person or an account, with its groups."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict)

    def info(self) -> Json:
        """Return the user as reviews show it."""
        body: Json = {"username": self.name}
        if self.uid:
            body["uid"] = self.uid
        body["groups"] = list(self.groups)
        return body | ({"extra": self.extra} if self.extra else {})


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
ADMIN = User("admin", (MASTERS, "system:authenticated"))


@dataclass(frozen=True)
class Question:
    """One access that a user asks for."""

    verb: str
    group: str = ""
    resource: str = ""
    part: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full(self) -> str:
        """Return the resource with its part."""
        return f"{self.resource}/{self.part}" if self.part else self.resource


_OPEN_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_NON_RESOURCE_RULES: list[Json] = [
    {
        "verbs": ["get"],
        "nonResourceURLs": [
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/healthz",
            "/livez",
            "/openapi",
            "/openapi/*",
            "/readyz",
            "/version",
            "/version/",
        ],
    },
    {"verbs": ["get"], "nonResourceURLs": _OPEN_PATHS},
    {"verbs": ["get"], "nonResourceURLs": ["/.well-known", "/.well-known/*"]},
]
_SELF_RULES: list[Json] = [
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {
        "verbs": ["create"],
        "apiGroups": ["authentication.k8s.io"],
        "resources": ["selfsubjectreviews"],
    },
]


class Access:
    """The users, their tokens and their rights."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.signer = Signer(store)
        self._tokens: dict[str, User] = {}

    def add_token(self, token: str, user: User) -> None:
        """Let a token speak for a user."""
        self._tokens[token] = user

    def add_user(self, name: str, *, uid: str = "", groups: tuple[str, ...] = ()) -> str:
        """Add a user and return its token."""
        token = f"token-of-{name}"
        self.add_token(token, User(name, (*groups, "system:authenticated"), uid))
        return token

    def user_of(self, authorization: str) -> User:
        """Return whose credentials these are; raise 401 when nobody's."""
        if not authorization:
            return ANONYMOUS
        _scheme, _, token = authorization.partition(" ")
        user = self._tokens.get(token) or self.account_of(token, ())
        if user is None:
            raise unauthorized()
        return user

    def account_of(self, token: str, audiences: tuple[str, ...]) -> User | None:
        """Return the service account of a token that is still good, or None."""
        claims = self.signer.claims(token, audiences)
        if claims is None:
            return None
        known = claims["kubernetes.io"]
        namespace, account = known["namespace"], known["serviceaccount"]
        groups = (
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        )
        extra: dict[str, list[str]] = {}
        prefix = "authentication.kubernetes.io"
        if pod := known.get("pod"):
            extra[f"{prefix}/pod-name"] = [pod["name"]]
            extra[f"{prefix}/pod-uid"] = [pod["uid"]]
        name = f"system:serviceaccount:{namespace}:{account['name']}"
        return User(name, groups, account["uid"], extra)

    # --- rights ---

    def check(self, user: User, question: Question) -> None:
        """Raise 403 in the recorded words unless the user may."""
        if self.reason(user, question) is None:
            raise refusal(user, question)

    def reason(self, user: User, question: Question) -> str | None:
        """Return why a user may, or None when it may not."""
        if MASTERS in user.groups:
            return ""
        if question.path:
            return self._path_reason(user, question)
        if "system:authenticated" in user.groups and any(
            _covers(rule, question) for rule in _SELF_RULES
        ):
            return ""
        for rule, why in self._rules(user, question.namespace):
            if _covers(rule, question):
                return why
        return None

    def _path_reason(self, user: User, question: Question) -> str | None:
        rules = list(_NON_RESOURCE_RULES) if "system:authenticated" in user.groups else []
        rules.append({"verbs": ["get"], "nonResourceURLs": _OPEN_PATHS})
        rules += [rule for rule, _why in self._rules(user, "")]
        for rule in rules:
            if _matches(rule["verbs"], question.verb) and any(
                question.path == url or (url.endswith("*") and question.path.startswith(url[:-1]))
                for url in rule.get("nonResourceURLs") or ()
            ):
                return ""
        return None

    def _rules(self, user: User, namespace: str) -> Iterator[tuple[Json, str]]:
        for kind, title in (("clusterrolebindings", "ClusterRoleBinding"), ("rolebindings", "")):
            if kind == "rolebindings" and not namespace:
                continue
            place = namespace if kind == "rolebindings" else ""
            for binding in self.store.objects(f"{kind}.{_RBAC}", place):
                subject = _subject_of(user, binding)
                if subject is None:
                    continue
                role = self._role(binding, place)
                name = binding["metadata"]["name"]
                binding_name = f'{title} "{name}"' if title else f'RoleBinding "{name}/{place}"'
                reference = binding["roleRef"]
                why = (
                    f"RBAC: allowed by {binding_name} of {reference['kind']} "
                    f'"{reference["name"]}" to {subject}'
                )
                for rule in (role or {}).get("rules") or ():
                    yield rule, why

    def _role(self, binding: Json, namespace: str) -> Json | None:
        reference = binding["roleRef"]
        if reference["kind"] == "Role":
            return self.store.get(f"roles.{_RBAC}", namespace, reference["name"])
        return self.store.get(f"clusterroles.{_RBAC}", "", reference["name"])

    # --- reviews ---

    def review_access(self, user: User, spec: Json) -> Json:
        """Return the status of an access review."""
        if attributes := spec.get("nonResourceAttributes"):
            question = Question(attributes["verb"], path=attributes["path"])
        else:
            question = _question(spec.get("resourceAttributes") or {})
        reason = self.reason(user, question)
        if reason is None:
            return {"allowed": False}
        return {"allowed": True} | ({"reason": reason} if reason else {})

    def review_rules(self, user: User, namespace: str) -> Json:
        """Return the status of a review of all rules in a namespace."""
        if not namespace:
            raise bad_request("no namespace on request")
        rules = [*_SELF_RULES, *(rule for rule, _why in self._rules(user, namespace))]
        if MASTERS in user.groups:
            rules = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
        return {
            "resourceRules": rules,
            "nonResourceRules": _NON_RESOURCE_RULES,
            "incomplete": False,
        }

    def review_token(self, spec: Json) -> Json:
        """Return the status of a token review."""
        audiences = tuple(spec.get("audiences") or ())
        token = spec.get("token", "")
        user = self._tokens.get(token) if not audiences else None
        user = user or self.account_of(token, audiences)
        if user is None:
            return {"user": {}, "error": "[invalid bearer token]"}
        return {
            "authenticated": True,
            "user": user.info(),
            "audiences": list(audiences or self.signer.default_audiences),
        }


def refusal(user: User, question: Question) -> ApiError:
    """Return the 403 of an access."""
    if question.path:
        text = f'User "{user.name}" cannot {question.verb} path "{question.path}"'
        return ApiError(403, f"forbidden: {text}", "Forbidden", {})
    scope = f'in the namespace "{question.namespace}"' if question.namespace else ""
    why = (
        f'User "{user.name}" cannot {question.verb} resource "{question.full}" '
        f'in API group "{question.group}" {scope or "at the cluster scope"}'
    )
    return forbidden(question.group, question.resource, question.name, why)


def _question(attributes: Json) -> Question:
    return Question(
        attributes.get("verb", ""),
        attributes.get("group", ""),
        attributes.get("resource", ""),
        attributes.get("subresource", ""),
        attributes.get("namespace", ""),
        attributes.get("name", ""),
    )


def _matches(allowed: list[str], value: str) -> bool:
    return "*" in allowed or value in allowed


def _covers(rule: Json, question: Question) -> bool:
    names = rule.get("resourceNames") or ()
    resources = rule.get("resources") or []
    return (
        _matches(rule["verbs"], question.verb)
        and _matches(rule.get("apiGroups") or [], question.group)
        and (_matches(resources, question.full) or f"*/{question.part}" in resources)
        and (not names or question.name in names)
    )


def _subject_of(user: User, binding: Json) -> str | None:
    for subject in binding.get("subjects") or ():
        kind, name = subject["kind"], subject["name"]
        if (kind == "User" and name == user.name) or (kind == "Group" and name in user.groups):
            return f'{kind} "{name}"'
        if kind == "ServiceAccount":
            namespace = subject.get("namespace") or binding["metadata"].get("namespace")
            if user.name == f"system:serviceaccount:{namespace}:{name}":
                return f'ServiceAccount "{name}/{namespace}"'
    return None
