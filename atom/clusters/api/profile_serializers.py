"""The profile of a cluster as the API takes and shows it."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers

from atom.clusters.engines.registry_configs import WrongConfigError, parse_config
from atom.clusters.registration.actions.profiles import ProfileSettings
from atom.clusters.registration.engines import profile_values as values
from atom.core.names import TextField
from atom_sdk.sentences import Sentence

_MAX_DEVICES = 64
_MAX_MEMLOCK = 1 << 50
_MAX_REPOSITORY = 300
_MAX_CREDENTIALS = 100_000


class TolerationSerializer(serializers.Serializer[Any]):
    """A taint that pods of runs tolerate, in the words of Kubernetes."""

    key = TextField(
        max_length=values.MAX_QUALIFIED,
        allow_blank=True,
        default="",
        help_text="The taint's key; empty with the operator Exists: every taint.",
    )
    operator = serializers.ChoiceField(choices=values.OPERATORS, default="Equal")
    value = TextField(max_length=63, allow_blank=True, default="")
    effect = serializers.ChoiceField(
        choices=values.EFFECTS, default="", help_text="Empty: every effect."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what Kubernetes would refuse."""
        if wrong := values.wrong_toleration(attrs):
            raise serializers.ValidationError(wrong)
        return attrs


class SettingsField(serializers.DictField):
    """Values of settings by name; each name has its own errors."""

    child = TextField(allow_blank=True, trim_whitespace=False, max_length=values.MAX_VALUE)


class RdmaStateSerializer(serializers.Serializer[Any]):
    """Whether pods get RDMA devices."""

    state = serializers.ChoiceField(
        choices=["unused", "off", "on"], help_text="unused: the profile names no resource."
    )
    detail = serializers.CharField(allow_null=True, help_text="Why it is on or off.")
    detail_code = serializers.CharField(allow_null=True)
    detail_params = serializers.DictField()
    tested_at = serializers.DateTimeField(allow_null=True)
    node = serializers.CharField(help_text="The node of the pod that tried it.")


class ProfileChangesSerializer(serializers.Serializer[Any]):
    """A whole profile; what is left out is as in a cluster without one."""

    priority_class = TextField(
        max_length=values.MAX_NAME,
        allow_blank=True,
        default="",
        help_text="The PriorityClass of runs' pods; empty: the cluster's default.",
    )
    tolerations = TolerationSerializer(  # type: ignore[call-arg]  # of the list
        many=True, default=list, max_length=values.MAX_TOLERATIONS
    )
    rdma_resource = TextField(
        max_length=values.MAX_QUALIFIED,
        allow_blank=True,
        default="",
        help_text="For instance rdma/hca_shared_devices_a; empty: no RDMA.",
    )
    rdma_count = serializers.IntegerField(
        min_value=1, max_value=_MAX_DEVICES, default=1, help_text="Devices of each pod."
    )
    nccl = SettingsField(
        default=dict, help_text="Settings of NCCL, UCX, Gloo and libfabric, by name."
    )
    memlock_bytes = serializers.IntegerField(
        min_value=1,
        max_value=_MAX_MEMLOCK,
        allow_null=True,
        default=None,
        help_text="The memlock limit that RDMA needs from the nodes' runtime; null: unlimited.",
    )

    image_repository = TextField(
        max_length=_MAX_REPOSITORY,
        allow_blank=True,
        default="",
        help_text="Environments of runs become images there, for instance "
        "registry.example/atom/envs; empty: they are archives.",
    )
    image_credentials = TextField(
        max_length=_MAX_CREDENTIALS,
        allow_blank=True,
        allow_null=True,
        default=None,
        write_only=True,
        trim_whitespace=False,
        help_text="A Docker configuration that images are pushed with; null: as before, for the "
        "same registry; empty: none. It is never shown.",
    )

    def validate_image_repository(self, name: str) -> str:
        """Refuse what is no repository."""
        return _checked(name, values.wrong_image_repository(name))

    def validate_image_credentials(self, text: str | None) -> str | None:
        """Keep the credentials alone. Refuses what holds none."""
        if not text:
            return text
        try:
            return json.dumps(parse_config(text), sort_keys=True)
        except WrongConfigError as error:
            raise serializers.ValidationError(error.sentence) from error

    def validate_priority_class(self, name: str) -> str:
        """Refuse what is no name of a class for runs."""
        return _checked(name, values.wrong_priority_class(name))

    def validate_rdma_resource(self, name: str) -> str:
        """Refuse what no device plugin offers."""
        return _checked(name, values.wrong_rdma_resource(name))

    def validate_tolerations(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a toleration that stands there twice."""
        twice = Sentence("clusters.toleration_twice", "This toleration stands there twice.")
        if repeated := values.repeated(rows):
            raise serializers.ValidationError({str(at): {"key": twice} for at in repeated})
        return rows

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse settings that are none, are Atom's own, or need RDMA without it."""
        settings = attrs["nccl"]
        if len(settings) > values.MAX_SETTINGS:
            many = Sentence(
                "clusters.settings_many", "At most {max} settings.", max=values.MAX_SETTINGS
            )
            raise serializers.ValidationError({"nccl": many})
        wrong = values.wrong_settings(settings, has_rdma=bool(attrs["rdma_resource"]))
        if wrong:
            raise serializers.ValidationError({"nccl": wrong})
        return attrs

    @property
    def settings(self) -> ProfileSettings:
        """Return the profile that was sent."""
        return ProfileSettings(**self.validated_data)


class ProfileSerializer(ProfileChangesSerializer):
    """The profile of a cluster, and whether RDMA is on."""

    has_image_credentials = serializers.BooleanField(read_only=True)
    rdma = RdmaStateSerializer(read_only=True)


def _checked(text: str, wrong: Sentence | None) -> str:
    if wrong is not None:
        raise serializers.ValidationError(wrong)
    return text
