"""Mixins of views of a unit, and of views that serve a unit or a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.functional import cached_property
from rest_framework.request import Request

from atom.accounts import permissions
from atom.accounts.api.mixins import (
    SAFE,
    ProjectScopedView,
    scope_of,
    token_of,
    user_of,
)
from atom.accounts.models import Project, Unit, User
from atom.accounts.reads import Scope, people
from atom.core.errors import NotFound

if TYPE_CHECKING:
    from rest_framework.views import APIView

    _Mixin = APIView
else:
    _Mixin = object

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


def authorize_on(request: Request, unit: Unit, role: str, scope: str) -> None:
    """Check role, token scope and token project for a unit; a project's token sees no unit."""
    token = token_of(request)
    if token is not None and token.project_id is not None:
        raise NotFound
    permissions.require_on(user_of(request), unit, role)
    permissions.require_scope(token, scope)


def find_unit(unit_id: Any) -> Unit:
    """Return a unit by its id. Raises NotFound."""
    found = Unit.objects.select_related("organisation", "parent").filter(pk=unit_id).first()
    if found is None:
        raise NotFound
    return found


class UnitScopedView(_Mixin):
    """A view under `units/<uuid:unit_id>/`; strangers get 404. Reads need `viewer`."""

    required_roles: ClassVar[dict[str, str]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then authorize for the unit in the path."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # mixin of APIView
        _ = self.unit

    @cached_property
    def unit(self) -> Unit:
        """Return the unit of the path, for which the request is authorized."""
        found = find_unit(self.kwargs["unit_id"])
        default = "viewer" if self.request.method in SAFE else "admin"
        role = self.required_roles.get(self.request.method or "", default)
        authorize_on(self.request, found, role, scope_of(self.request, writing="admin"))
        return found


class OfProject(ProjectScopedView):
    """For administrators of the project in the path."""

    required_roles: ClassVar = dict.fromkeys(METHODS, "admin")
    write_scope = "admin"

    @property
    def place(self) -> Scope:
        """Return the project."""
        return self.project


class OfUnit(UnitScopedView):
    """For administrators of the unit in the path."""

    required_roles: ClassVar = dict.fromkeys(METHODS, "admin")

    @property
    def place(self) -> Scope:
        """Return the unit."""
        return self.unit


if TYPE_CHECKING:

    class PlaceView(APIView):
        """A view of one place; `OfProject` or `OfUnit` comes before it."""

        @property
        def place(self) -> Scope:
            """Return the project or unit of the path."""

else:

    class PlaceView:
        """A view of one place; `OfProject` or `OfUnit` comes before it."""


def find_person(user_id: Any) -> User:
    """Return a person by their id. Raises NotFound."""
    found = people().filter(pk=user_id).first()
    if found is None:
        raise NotFound
    return found


def project_of(place: Scope) -> Project | None:
    """Return the place if it is a project."""
    return place if isinstance(place, Project) else None
