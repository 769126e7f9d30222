"""Secrets of a project: their names are listed, their values are only ever written."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.clusters.engines.registry_configs import SECRET_NAME, WrongConfigError, parse_config
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.names import NameField, TextField
from atom.jobs.api_base import PAGE, listing, page_of
from atom.jobs.models import ProjectSecret
from atom.jobs.secrets.actions import secrets
from atom.jobs.secrets.engines.variables import wrong_name
from atom_sdk.sentences import Sentence


class SecretSerializer(serializers.ModelSerializer[ProjectSecret]):
    """A secret without its value."""

    set_by = serializers.CharField(source="set_by.username", default=None, allow_null=True)

    class Meta:
        model = ProjectSecret
        fields = ("name", "description", "set_by", "set_at", "last_used_at", "created_at")


class SecretValueSerializer(serializers.Serializer[Any]):
    """The value to keep."""

    value = TextField(
        trim_whitespace=False, write_only=True, help_text="Up to 64 KiB of text, without NUL."
    )
    description = NameField(
        max_length=300,
        required=False,
        allow_blank=True,
        help_text="The purpose; without it, the stored one stays.",
    )

    def validate_value(self, value: str) -> str:
        """Refuse what no environment variable can hold."""
        if "\0" in value:
            raise serializers.ValidationError(
                Sentence("jobs.secret_has_nul", "A variable of the environment has no NUL in it.")
            )
        if len(value.encode()) > secrets.MAX_VALUE_BYTES:
            raise serializers.ValidationError(
                Sentence("jobs.secret_too_large", "It has more than 64 KiB.")
            )
        return value


def _check_registries(value: str) -> None:
    """Refuse what no cluster can pull images with. Raises Invalid."""
    try:
        parse_config(value)
    except WrongConfigError as error:
        raise Invalid(errors={"value": [error.sentence]}) from error


class SecretsView(ProjectScopedView, APIView):
    """`projects/<project>/secrets/`."""

    keyset = ("name", "id")
    required_roles: ClassVar[dict[str, str]] = {"GET": "researcher"}

    @extend_schema(
        operation_id="secrets_list",
        parameters=PAGE,
        responses=listing(SecretSerializer, "SecretPage"),
    )
    def get(self, request: Request, project: str) -> Response:
        """List the names of the project's secrets, for people who may start runs."""
        found = ProjectSecret.objects.filter(project=self.project).select_related("set_by")
        return page_of(self, found, SecretSerializer)


class SecretView(ProjectScopedView, APIView):
    """`projects/<project>/secrets/<name>/`."""

    @extend_schema(
        operation_id="secrets_set",
        request=SecretValueSerializer,
        responses={200: SecretSerializer, 201: SecretSerializer},
    )
    def put(self, request: Request, project: str, name: str) -> Response:
        """Keep a value under a name, in place of the one before."""
        if said := wrong_name(name):
            raise Invalid(errors={"name": [said]})
        serializer = SecretValueSerializer(data=request.data)
        check(serializer)
        if name == SECRET_NAME:
            _check_registries(serializer.validated_data["value"])
        secret, is_new = secrets.set_secret(
            self.project, user_of(request), name, **serializer.validated_data
        )
        return Response(SecretSerializer(secret).data, status=201 if is_new else 200)

    @extend_schema(operation_id="secrets_remove", responses={204: None})
    def delete(self, request: Request, project: str, name: str) -> Response:
        """Forget a value for ever."""
        secrets.remove_secret(self.project, user_of(request), name)
        return Response(status=204)
