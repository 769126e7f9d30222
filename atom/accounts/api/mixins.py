"""What every view inside a project shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.functional import cached_property

from atom.accounts import permissions
from atom.accounts.models import ApiToken, Project, User
from atom.core.errors import NotFound

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

    _Mixin = APIView
else:
    _Mixin = object

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def user_of(request: Request) -> User:
    """Return the signed-in user; permission classes have refused nobody already."""
    if not isinstance(request.user, User):
        raise NotFound
    return request.user


def token_of(request: Request) -> ApiToken | None:
    """Return the API token of the request, or None for a session."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def authorize(request: Request, project: Project, role: str, scope: str = "write") -> None:
    """Check role and token for this request's method; a write needs a token with `scope`."""
    token = token_of(request)
    permissions.require_project(token, project)
    permissions.require(user_of(request), project, role)
    permissions.require_scope(token, "read" if request.method in SAFE else scope)


class ScopedView:
    """Checks the token's scope on every request, inside a project or not."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a token without the scope before the view runs."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # mixin of APIView
        scope = "read" if request.method in SAFE else "write"
        permissions.require_scope(token_of(request), scope)


class ProjectScopedView(_Mixin):
    """A view under `projects/<slug:project>/`; strangers get 404 before anything is looked up.

    `required_roles` maps a method to the role that it needs; reads need `viewer`, writes
    `researcher` unless it says otherwise. `write_scope` is the scope that a token needs to write.
    """

    required_roles: ClassVar[dict[str, str]] = {}
    write_scope: ClassVar[str] = "write"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then authorize for the project in the path."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # mixin of APIView
        default = "viewer" if request.method in SAFE else "researcher"
        role = self.required_roles.get(request.method or "", default)
        authorize(request, self.project, role, self.write_scope)

    @cached_property
    def project(self) -> Project:
        """Return the project of the path. Raises NotFound if the caller may not see it."""
        visible = Project.objects.visible_to(user_of(self.request)).select_related("unit")
        project = visible.filter(slug=self.kwargs["project"]).first()
        if project is None:
            raise NotFound
        return project
