"""Mixins of all views inside a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.functional import cached_property

from atom.accounts import permissions
from atom.accounts.models import ApiToken, Project, ServiceAccount, User
from atom.accounts.reads import find_project
from atom.core.errors import NotFound, PermissionDenied
from atom_sdk.sentences import Sentence

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

    _Mixin = APIView
else:
    _Mixin = object

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def user_of(request: Request) -> User:
    """Return the signed-in user; permission classes have refused anonymous callers already."""
    if not isinstance(request.user, User):
        raise NotFound
    return request.user


def token_of(request: Request) -> ApiToken | None:
    """Return the API token of the request, or None for a session."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def refuse_service_account(user: User) -> None:
    """Raise PermissionDenied for a program: its administrators make its keys, and see them all."""
    if ServiceAccount.objects.filter(user=user).exists():
        raise PermissionDenied(
            Sentence(
                "accounts.service_account_makes_no_keys",
                "A service account makes no keys; its administrators do.",
            )
        )


def scope_of(request: Request, reading: frozenset[str] = SAFE, writing: str = "write") -> str:
    """Return the token scope that this request's method needs."""
    return "read" if request.method in reading else writing


def authorize(request: Request, project: Project, role: str, scope: str = "") -> None:
    """Check role, token scope and token project; the method says the scope unless one is given."""
    token = token_of(request)
    permissions.require_project(token, project)
    permissions.require(user_of(request), project, role)
    permissions.require_scope(token, scope or scope_of(request))


class ScopedView:
    """Checks the token's scope on every request, inside a project or not."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a token without the scope before the view runs."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # mixin of APIView
        permissions.require_scope(token_of(request), scope_of(request))


class ProjectScopedView(_Mixin):
    """A view under `projects/<slug:project>/`; strangers get 404 before anything is looked up.

    `required_roles` maps a method to the role that it needs; reads need `viewer`, writes
    `researcher` unless it says otherwise. `reading_methods` are those that change nothing;
    `write_scope` is the scope that a token needs for the others.
    """

    required_roles: ClassVar[dict[str, str]] = {}
    reading_methods: ClassVar[frozenset[str]] = SAFE
    write_scope: ClassVar[str] = "write"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then authorize for the project in the path."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # mixin of APIView
        _ = self.project

    @cached_property
    def project(self) -> Project:
        """Return the project of the path, for which the request is authorized.

        Raises NotFound for strangers and PermissionDenied for members who may not do this.
        """
        found = find_project(self.kwargs["project"])
        if found is None:
            raise NotFound
        scope = scope_of(self.request, self.reading_methods, self.write_scope)
        default = "viewer" if scope == "read" else "researcher"
        role = self.required_roles.get(self.request.method or "", default)
        authorize(self.request, found, role, scope)
        return found
