"""Shapes of requests: runs to start, code to upload."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import NameField, TextField
from atom.jobs.deliveries import DELIVERIES
from atom.jobs.launchers import LAUNCHERS, MAX_NODES
from atom.jobs.runs.engines.images import MAX_CHARACTERS
from atom.jobs.start_ways import LEAST_PERCENT, MOST_PERCENT, SHARE, START_WAYS, StartWay
from atom.jobs.workflows.api.workflow_serializers import PartialResourcesSerializer
from atom_sdk.manifests.query import MAX_TEXT_CHARACTERS, QueryError, parse_query
from atom_sdk.sentences import Sentence

MAX_KIND_CHARACTERS = 100


def accelerator_field(**options: Any) -> TextField:
    """Return the kind of a run's GPUs."""
    return TextField(
        max_length=MAX_KIND_CHARACTERS,
        required=False,
        allow_blank=True,
        help_text="The kind of the GPUs, one of cluster-choices/; empty for any.",
        **options,
    )


def nodes_field(**options: Any) -> serializers.IntegerField:
    """Return how many nodes run the command together."""
    return serializers.IntegerField(
        min_value=1,
        max_value=MAX_NODES,
        required=False,
        help_text="How many pods run the command together; each gets these resources.",
        **options,
    )


def launcher_field() -> serializers.ChoiceField:
    """Return how each node starts the command."""
    return serializers.ChoiceField(
        choices=LAUNCHERS, required=False, help_text="How several nodes start the command."
    )


class StartSerializer(serializers.Serializer[Any]):
    """When a run starts relative to its data: when all is there, at a percentage, or at once."""

    when = serializers.ChoiceField(choices=START_WAYS)
    percent = serializers.IntegerField(
        min_value=LEAST_PERCENT,
        max_value=MOST_PERCENT,
        required=False,
        allow_null=True,
        default=None,
        help_text="The part of the bytes that is there first; of share alone.",
    )

    def validate(self, attrs: dict[str, Any]) -> Any:
        """Return a StartWay; refuse a share without a percentage, and one of another way."""
        if attrs["when"] == SHARE and attrs["percent"] is None:
            raise serializers.ValidationError(
                {
                    "percent": Sentence(
                        "jobs.start_percent_missing", "A start at a share needs a percentage."
                    )
                }
            )
        if attrs["when"] != SHARE and attrs["percent"] is not None:
            raise serializers.ValidationError(
                {
                    "percent": Sentence(
                        "jobs.start_percent_unused",
                        "Only a start at a share has a percentage: leave this out.",
                    )
                }
            )
        return StartWay(**attrs)


def start_field() -> StartSerializer:
    """Return when a run starts relative to its data."""
    return StartSerializer(
        required=False,
        allow_null=True,
        help_text="When it starts relative to its data; left out or null, Atom chooses.",
    )


class SelectorSerializer(serializers.Serializer[Any]):
    """Which samples of a version a run sees; without a key, all of them."""

    split = serializers.ListField(
        child=TextField(max_length=100), required=False, allow_empty=False
    )
    labelled = serializers.BooleanField(required=False)
    where = TextField(
        max_length=MAX_TEXT_CHARACTERS,
        required=False,
        help_text="A condition as after SQL's WHERE, kept with the run.",
    )

    view = TextField(
        max_length=63,
        required=False,
        help_text="A saved view of the dataset; what it asks now is kept with the run.",
    )

    def validate_where(self, text: str) -> str:
        """Refuse what is no query, before the run is made."""
        try:
            parse_query(text)
        except QueryError as error:
            raise serializers.ValidationError(str(error)) from error
        return text


class RunRequestSerializer(serializers.Serializer[Any]):
    """A request for a run: a workflow with parameters, or a command."""

    name = NameField(max_length=200, required=False)
    workflow = TextField(max_length=63, required=False, allow_blank=True)
    parameters = serializers.DictField(required=False)
    command = serializers.ListField(
        child=TextField(max_length=100_000, trim_whitespace=False, allow_blank=True),
        required=False,
        max_length=1000,
    )
    code_snapshot = serializers.UUIDField(required=False, allow_null=True)
    requirements = TextField(
        max_length=100_000, required=False, allow_blank=True, trim_whitespace=False
    )
    datasets = serializers.DictField(child=serializers.CharField(), required=False)
    selectors = serializers.DictField(child=SelectorSerializer(), required=False)
    deliveries = serializers.DictField(
        child=serializers.ChoiceField(choices=DELIVERIES),
        required=False,
        help_text="How the data of an alias gets there; packs by default.",
    )
    resources = PartialResourcesSerializer(required=False)
    accelerator = accelerator_field()
    nodes = nodes_field()
    launcher = launcher_field()
    start = start_field()
    env = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False
    )
    secrets = serializers.ListField(
        child=TextField(max_length=100),
        required=False,
        max_length=50,
        help_text="Names of the project's secrets; the command gets them as variables.",
    )
    timeout_s = serializers.IntegerField(
        min_value=1, max_value=90 * 86_400, required=False, allow_null=True
    )
    max_retries = serializers.IntegerField(min_value=0, max_value=20, required=False)
    tags = serializers.ListField(child=NameField(max_length=63), required=False, max_length=30)
    cluster = TextField(
        max_length=63,
        required=False,
        allow_blank=True,
        help_text="A registered cluster of the project, or auto: Atom chooses the place. Empty for "
        "Atom's own machines.",
    )
    image = TextField(
        max_length=MAX_CHARACTERS,
        required=False,
        allow_blank=True,
        help_text="The image that a registered cluster starts; empty for the installation's.",
    )
    may_write = serializers.BooleanField(
        required=False,
        help_text="The command gets a token to write the project's datasets, of who starts it.",
    )


class CloneRequestSerializer(serializers.Serializer[Any]):
    """Changes of a run's copy; the rest stays as it was."""

    name = NameField(max_length=200, required=False)
    parameters = serializers.DictField(
        required=False, help_text="Replaces these parameters; the others stay."
    )
    resources = PartialResourcesSerializer(required=False)
    accelerator = accelerator_field()
    nodes = nodes_field()
    launcher = launcher_field()
    start = start_field()
    timeout_s = serializers.IntegerField(
        min_value=1, max_value=90 * 86_400, required=False, allow_null=True
    )
    max_retries = serializers.IntegerField(min_value=0, max_value=20, required=False)
    tags = serializers.ListField(child=NameField(max_length=63), required=False, max_length=30)
    cluster = TextField(
        max_length=63,
        required=False,
        allow_blank=True,
        help_text="A registered cluster of the project, or auto: Atom chooses the place. Empty for "
        "Atom's own machines.",
    )
    image = TextField(
        max_length=MAX_CHARACTERS,
        required=False,
        allow_blank=True,
        help_text="The image that a registered cluster starts; empty for the installation's.",
    )


class MoveRequestSerializer(serializers.Serializer[Any]):
    """The cluster in which a run goes on."""

    cluster = TextField(
        max_length=63,
        help_text="A registered cluster of the project, or auto: Atom chooses one of them.",
    )
    image = TextField(
        max_length=MAX_CHARACTERS,
        required=False,
        allow_blank=True,
        help_text="The image that it starts; left out, that of the run.",
    )
    accelerator = TextField(
        max_length=MAX_KIND_CHARACTERS,
        required=False,
        allow_blank=True,
        help_text="The kind of its GPUs there, empty for any; left out, that of the run.",
    )
