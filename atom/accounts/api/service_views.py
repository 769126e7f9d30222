"""Service accounts of a project or unit, and their tokens."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, Count, Max, OuterRef, Q, QuerySet, Subquery
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import actions
from atom.accounts.actions.people import deactivate, reactivate
from atom.accounts.actions.service_accounts import (
    change_service_role,
    create_service_account,
    create_service_token,
)
from atom.accounts.api.fields import SlugField
from atom.accounts.api.mixins import user_of
from atom.accounts.api.scopes import OfProject, OfUnit, PlaceView, project_of
from atom.accounts.api.serializers import in_future
from atom.accounts.models import ROLES, SCOPES, ApiToken, RoleBinding, ServiceAccount
from atom.accounts.reads import scope_fields
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.names import NameField
from atom.core.pagination import KeysetPagination


class ServiceAccountSerializer(serializers.ModelSerializer[ServiceAccount]):
    """A service account, its role where it belongs, and whether it is used."""

    username = serializers.CharField(source="user.username", read_only=True)
    is_active = serializers.BooleanField(source="user.is_active", read_only=True)
    role = serializers.SerializerMethodField()
    token_count = serializers.IntegerField(read_only=True)
    last_used_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = ServiceAccount
        fields = (
            "id",
            "name",
            "username",
            "role",
            "is_active",
            "token_count",
            "last_used_at",
            "created_at",
        )

    @extend_schema_field(serializers.ChoiceField(choices=ROLES, allow_null=True))
    def get_role(self, account: ServiceAccount) -> str | None:
        """Return the role that the view has looked up with the row."""
        found: str | None = getattr(account, "role", None)
        return found


class NewServiceAccountSerializer(serializers.Serializer[Any]):
    """Name and role of a new service account."""

    name = SlugField()
    role = serializers.ChoiceField(choices=ROLES)


class ChangedServiceAccountSerializer(serializers.Serializer[Any]):
    """Another role, or whether it may act."""

    role = serializers.ChoiceField(choices=ROLES, required=False)
    is_active = serializers.BooleanField(required=False)


class ServiceTokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token of a service account, without its secret."""

    name = NameField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), allow_empty=False, max_length=len(SCOPES)
    )

    class Meta:
        model = ApiToken
        fields = ("id", "name", "prefix", "scopes", "expires_at", "last_used_at", "created_at")
        read_only_fields = ("id", "prefix", "last_used_at", "created_at")

    def validate_expires_at(self, value: Any) -> Any:
        """Refuse a time that has passed."""
        return in_future(value)


class NewServiceTokenSerializer(ServiceTokenSerializer):
    """A token as it is answered once, with its secret."""

    secret = serializers.CharField(read_only=True)

    class Meta(ServiceTokenSerializer.Meta):
        fields = (*ServiceTokenSerializer.Meta.fields, "secret")  # type: ignore[assignment]  # one more


def accounts_of(view: PlaceView) -> QuerySet[ServiceAccount]:
    """Return the service accounts that the view's place owns, with what a list shows."""
    place = view.place
    bound = RoleBinding.objects.filter(user=OuterRef("user"), **scope_fields(place))
    in_force = Count("user__api_tokens", filter=Q(user__api_tokens__revoked_at=None))
    return (
        ServiceAccount.objects.filter(**scope_fields(place))
        .select_related("user", "project", "unit")
        .annotate(
            role=Subquery(bound.values("role")[:1], output_field=CharField()),
            token_count=in_force,
            last_used_at=Max("user__api_tokens__last_used_at"),
        )
    )


def find_account(view: PlaceView, pk: str) -> ServiceAccount:
    """Return an account of the view's place. Raises NotFound."""
    found = accounts_of(view).filter(pk=pk).first()
    if found is None:
        raise NotFound
    return found


class _AccountList(PlaceView, generics.ListAPIView[ServiceAccount]):
    serializer_class = ServiceAccountSerializer
    pagination_class = KeysetPagination
    keyset = ("name",)

    def get_queryset(self) -> QuerySet[ServiceAccount]:
        """Return the accounts, by name."""
        if getattr(self, "swagger_fake_view", False):
            return ServiceAccount.objects.none()
        return accounts_of(self)

    @extend_schema(request=NewServiceAccountSerializer, responses={201: ServiceAccountSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a service account."""
        body = NewServiceAccountSerializer(data=request.data)
        check(body)
        made = create_service_account(self.place, actor=user_of(request), **body.validated_data)
        shown = ServiceAccountSerializer(find_account(self, str(made.pk)))
        return Response(shown.data, status=status.HTTP_201_CREATED)


class _AccountView(PlaceView, APIView):
    @extend_schema(request=ChangedServiceAccountSerializer, responses=ServiceAccountSerializer)
    def patch(self, request: Request, account_id: str, **kwargs: Any) -> Response:
        """Change the role; deactivating revokes every token, and ends every session."""
        account = find_account(self, account_id)
        body = ChangedServiceAccountSerializer(data=request.data)
        check(body)
        values, actor = body.validated_data, user_of(request)
        if "role" in values:
            change_service_role(account, values["role"], actor)
        if "is_active" in values:
            act = reactivate if values["is_active"] else deactivate
            act(account.user, actor, project_of(self.place))
        return Response(ServiceAccountSerializer(find_account(self, account_id)).data)


class _AccountTokenList(PlaceView, generics.ListAPIView[ApiToken]):
    serializer_class = ServiceTokenSerializer
    pagination_class = KeysetPagination

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens that are not revoked."""
        if getattr(self, "swagger_fake_view", False):
            return ApiToken.objects.none()
        account = find_account(self, self.kwargs["account_id"])
        return ApiToken.objects.filter(user=account.user_id, revoked_at=None)

    @extend_schema(request=ServiceTokenSerializer, responses={201: NewServiceTokenSerializer})
    def post(self, request: Request, account_id: str, **kwargs: Any) -> Response:
        """Make a token. Its secret is in this answer only, so the call is not replayable."""
        account = find_account(self, account_id)
        body = ServiceTokenSerializer(data=request.data)
        check(body)
        values = body.validated_data
        new = create_service_token(
            account, values["name"], values["scopes"], values.get("expires_at"), user_of(request)
        )
        data = {**ServiceTokenSerializer(new.token).data, "secret": new.secret}
        return Response(data, status=status.HTTP_201_CREATED)


class _AccountTokenView(PlaceView, APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, account_id: str, token_id: str, **kwargs: Any) -> Response:
        """Revoke the token at once."""
        account = find_account(self, account_id)
        token = ApiToken.objects.filter(user=account.user_id, pk=token_id).first()
        if token is None:
            raise NotFound
        actions.revoke_token(token, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProjectServiceAccountListView(OfProject, _AccountList):
    """The service accounts of a project."""


class UnitServiceAccountListView(OfUnit, _AccountList):
    """The service accounts of a unit."""


class ProjectServiceAccountView(OfProject, _AccountView):
    """One service account of a project."""


class UnitServiceAccountView(OfUnit, _AccountView):
    """One service account of a unit."""


class ProjectServiceTokenListView(OfProject, _AccountTokenList):
    """The tokens of a project's service account."""


class UnitServiceTokenListView(OfUnit, _AccountTokenList):
    """The tokens of a unit's service account."""


class ProjectServiceTokenView(OfProject, _AccountTokenView):
    """One token of a project's service account."""


class UnitServiceTokenView(OfUnit, _AccountTokenView):
    """One token of a unit's service account."""
