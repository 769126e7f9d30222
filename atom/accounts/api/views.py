"""Signing in, projects and tokens."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import ensure_csrf_cookie
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import actions, permissions
from atom.accounts.api.mixins import ScopedView, refuse_service_account, token_of, user_of
from atom.accounts.api.serializers import (
    NewTokenSerializer,
    ProjectSerializer,
    SessionSerializer,
    SignedOutSerializer,
    TokenSerializer,
    UserSerializer,
)
from atom.accounts.api.sign_in import BY_PROVIDER
from atom.accounts.api.unit_views import NewProjectMixin
from atom.accounts.models import ApiToken, Project, User
from atom.accounts.oidc import sign_out_url
from atom.accounts.reads import roles_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination
from atom_sdk import __version__
from atom_sdk.sentences import Sentence


def _session_of(request: Request) -> dict[str, Any]:
    user = request.user if isinstance(request.user, User) else None
    session = request._request.session
    return {
        "authenticated": user is not None,
        "user": UserSerializer(user).data if user else None,
        "lacks_second_factor": user is not None
        and token_of(request) is None
        and permissions.lacks_second_factor(user, session),
    }


@method_decorator(ensure_csrf_cookie, name="dispatch")
class SessionView(APIView):
    """The signed-in person. Sets the CSRF cookie, so the portal asks this first."""

    permission_classes = (AllowAny,)
    is_before_second_factor = True

    @extend_schema(responses=SessionSerializer, operation_id="session_retrieve")
    def get(self, request: Request) -> Response:
        """Return the session."""
        return Response(_session_of(request))


class LogoutView(APIView):
    """Signing out."""

    is_before_second_factor = True

    @extend_schema(request=None, responses=SignedOutSerializer, operation_id="logout")
    def post(self, request: Request) -> Response:
        """End the session; the answer says where to sign out of the provider too, if anywhere."""
        by_provider = request._request.session.get(BY_PROVIDER, False)
        logout(request._request)
        return Response({"provider_url": sign_out_url() if by_provider else None})


class MeView(ScopedView, generics.RetrieveAPIView[User]):
    """The caller's own profile."""

    # Its language counts on every page.
    is_before_second_factor = True
    serializer_class = UserSerializer

    def get_object(self) -> User:
        """Return the caller."""
        return user_of(self.request)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the profile; a header names the server's version, to compare a client's with."""
        answer = super().get(request, *args, **kwargs)
        answer["Atom-Version"] = __version__
        return answer

    def patch(self, request: Request) -> Response:
        """Change the caller's name or language; a token of one project changes neither."""
        permissions.refuse_bound(token_of(request))
        body = UserSerializer(self.get_object(), data=request.data, partial=True)
        check(body)
        body.save()
        return Response(body.data)


class ProjectListView(NewProjectMixin, ScopedView, generics.ListAPIView[Project]):
    """The projects that the caller is a member of."""

    serializer_class = ProjectSerializer
    pagination_class = KeysetPagination
    keyset = ("slug",)

    def get_queryset(self) -> QuerySet[Project]:
        """Return the visible projects; a token bound to a project sees only that one."""
        if getattr(self, "swagger_fake_view", False):
            return Project.objects.none()
        projects = Project.objects.visible_to(user_of(self.request)).select_related("unit")
        token = token_of(self.request)
        return projects.filter(pk=token.project_id) if token and token.project_id else projects

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the caller's roles, looked up once for the whole page."""
        roles = {} if getattr(self, "swagger_fake_view", False) else roles_of(user_of(self.request))
        return {**super().get_serializer_context(), "roles": roles}


class TokenListView(ScopedView, generics.ListCreateAPIView[ApiToken]):
    """The caller's API tokens."""

    serializer_class = TokenSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the caller's tokens that are not revoked; one of a project sees that project's."""
        if getattr(self, "swagger_fake_view", False):
            return ApiToken.objects.none()
        return _own_tokens(self.request).filter(revoked_at=None).select_related("project")

    @extend_schema(request=TokenSerializer, responses={201: NewTokenSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a token. Its secret is in this answer only, so the call is not replayable."""
        _refuse_escalation(token_of(request))
        refuse_service_account(user_of(request))
        body = TokenSerializer(data=request.data, context=self.get_serializer_context())
        check(body)
        _require_same_project(token_of(request), body.validated_data.get("project"))
        new = actions.create_token(user_of(request), **body.validated_data)
        data = {**TokenSerializer(new.token).data, "secret": new.secret}
        return Response(data, status=status.HTTP_201_CREATED)


def _refuse_escalation(token: ApiToken | None) -> None:
    """A token may not make a token: it could outlive or outrank itself."""
    if token is not None and "admin" not in token.scopes:
        raise permissions.ScopeMissing(
            Sentence(
                "accounts.token_needs_admin_scope",
                "Only a session or a token with scope admin makes tokens.",
            )
        )


def _require_same_project(token: ApiToken | None, project: Project | None) -> None:
    """A token that is bound to a project makes none that reaches further."""
    if token is None or token.project_id is None:
        return
    if project is None:
        raise permissions.ScopeMissing(
            Sentence(
                "accounts.bound_token_needs_project",
                ("A token that is bound to a project makes tokens for that project only: name it."),
            )
        )
    permissions.require_project(token, project)


def _own_tokens(request: Request) -> QuerySet[ApiToken]:
    own = ApiToken.objects.filter(user=user_of(request))
    token = token_of(request)
    return own.filter(project=token.project_id) if token and token.project_id else own


class TokenView(ScopedView, APIView):
    """One API token."""

    @extend_schema(responses={204: None}, operation_id="tokens_revoke")
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke the token at once."""
        token = _own_tokens(request).filter(pk=token_id).first()
        if token is None:
            raise NotFound
        actions.revoke_token(token, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
