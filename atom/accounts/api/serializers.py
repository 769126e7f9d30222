"""Shapes of people, projects, tokens, S3 key pairs and audit events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.models import ROLES, SCOPES, ApiToken, AuditEvent, Project, S3KeyPair, User
from atom.core import clock
from atom.core.names import NameField

LANGUAGES = ("en", "zh")


def in_future(value: datetime | None) -> datetime | None:
    """Return the time. Raises ValidationError if it has passed."""
    if value is not None and value <= clock.now():
        raise serializers.ValidationError("Choose a time in the future.", code="not_future")
    return value


class UserSerializer(serializers.ModelSerializer[User]):
    """The signed-in person."""

    is_admin = serializers.BooleanField(source="is_superuser", read_only=True)
    administers_units = serializers.SerializerMethodField()
    full_name = NameField(max_length=200, required=False, allow_blank=True)
    # Whoever has none has an empty one, which is no address.
    email = serializers.CharField(read_only=True)

    class Meta:
        model = User
        fields = (
            "id",
            "username",
            "full_name",
            "email",
            "language",
            "is_admin",
            "administers_units",
        )
        read_only_fields = ("id", "username")

    def validate_language(self, value: str) -> str:
        """Refuse a language that neither the portal nor a mail speaks."""
        if value not in LANGUAGES:
            said = f"Choose one of: {', '.join(LANGUAGES)}."
            raise serializers.ValidationError(said, code="invalid_choice")
        return value

    def get_administers_units(self, user: User) -> bool:
        """Return whether there is a unit in which the person may add projects."""
        roles = user.role_bindings.filter(unit__isnull=False, role="admin")
        return user.is_superuser or roles.exists()


class UserShortSerializer(serializers.ModelSerializer[User]):
    """A person beside a thing that they made."""

    class Meta:
        model = User
        fields = ("username", "full_name")


class SessionSerializer(serializers.Serializer[Any]):
    """Whether the browser is signed in, and as whom."""

    authenticated = serializers.BooleanField()
    user = UserSerializer(allow_null=True)
    lacks_second_factor = serializers.BooleanField(
        help_text="Whether nothing but setting one up is allowed yet."
    )


class SignedOutSerializer(serializers.Serializer[Any]):
    """Where the browser goes to sign out of the provider of single sign-on."""

    provider_url = serializers.CharField(allow_null=True)


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project and the caller's role in it."""

    role = serializers.SerializerMethodField()
    unit = serializers.CharField(source="unit.name", read_only=True)

    class Meta:
        model = Project
        fields = ("id", "slug", "name", "role", "unit", "created_at")

    @extend_schema_field(serializers.ChoiceField(choices=ROLES))
    def get_role(self, project: Project) -> str:
        """Return the role that the view has looked up for all rows at once."""
        return str(self.context["roles"].get(project.pk, "viewer"))


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its secret."""

    name = NameField(max_length=100)
    project = serializers.SlugRelatedField(
        slug_field="slug", queryset=Project.objects.none(), allow_null=True, required=False
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), allow_empty=False, max_length=len(SCOPES)
    )

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "prefix",
            "scopes",
            "project",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "created_at",
        )
        read_only_fields = ("id", "prefix", "last_used_at", "revoked_at", "created_at")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Offer only the caller's projects as choices."""
        fields = super().get_fields()
        if (request := self.context.get("request")) and isinstance(request.user, User):
            fields["project"].queryset = Project.objects.visible_to(request.user)  # type: ignore[attr-defined]
        return fields

    def validate_expires_at(self, value: Any) -> Any:
        """Refuse a time that has passed."""
        return in_future(value)


class NewTokenSerializer(TokenSerializer):
    """A token as it is answered once, with its secret."""

    secret = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "secret")  # type: ignore[assignment]  # one more


class S3KeyPairSerializer(serializers.ModelSerializer[S3KeyPair]):
    """An S3 key pair without its secret."""

    name = NameField(max_length=100)
    project = serializers.SlugRelatedField(slug_field="slug", queryset=Project.objects.none())
    endpoint_url = serializers.SerializerMethodField()

    class Meta:
        model = S3KeyPair
        fields = (
            "id",
            "name",
            "access_key_id",
            "project",
            "endpoint_url",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "created_at",
        )
        read_only_fields = ("id", "access_key_id", "last_used_at", "revoked_at", "created_at")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Offer only the caller's projects as choices."""
        fields = super().get_fields()
        if (request := self.context.get("request")) and isinstance(request.user, User):
            fields["project"].queryset = Project.objects.visible_to(request.user)  # type: ignore[attr-defined]
        return fields

    @extend_schema_field(OpenApiTypes.URI)
    def get_endpoint_url(self, pair: S3KeyPair) -> str:
        """Return where S3 tools find this installation."""
        return str(settings.ATOM_S3_GATEWAY_URL)

    def validate_expires_at(self, value: Any) -> Any:
        """Refuse a time that has passed."""
        return in_future(value)


class NewS3KeyPairSerializer(S3KeyPairSerializer):
    """An S3 key pair as it is answered once, with its secret."""

    secret_access_key = serializers.CharField(read_only=True)

    class Meta(S3KeyPairSerializer.Meta):
        fields = (*S3KeyPairSerializer.Meta.fields, "secret_access_key")  # type: ignore[assignment]  # one more


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One line of the audit trail."""

    actor = serializers.CharField(source="actor_name")
    project: serializers.SlugRelatedField[Project] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )
    data = serializers.DictField()  # type: ignore[assignment]  # a column's name

    class Meta:
        model = AuditEvent
        fields = (
            "id",
            "at",
            "actor",
            "verb",
            "object_type",
            "object_id",
            "project",
            "data",
            "request_id",
        )
