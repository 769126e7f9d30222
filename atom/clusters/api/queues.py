"""`clusters/<cluster>/queues/`: the queue of Kueue that the runs of a project use."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import token_of, user_of
from atom.accounts.models import Project
from atom.clusters.api.views import ClusterViewBase
from atom.clusters.models import Cluster, RunQueue
from atom.clusters.queues.actions.queues import set_queues
from atom.clusters.queues.engines import names
from atom.clusters.queues.engines.choices import QueueChoice
from atom.clusters.registration.actions.registering import refuse_local
from atom.clusters.registration.engines.cluster_queues import QUEUES, STATES, version_in
from atom.clusters.registration.engines.profile_values import MAX_QUALIFIED, is_qualified
from atom.core.bodies import check
from atom.core.names import TextField
from atom_sdk.sentences import Sentence

_MAX_ROWS = 1000
_MAX_RESOURCES = 20


class RunQueueSerializer(serializers.Serializer[Any]):
    """A queue of Kueue, as runs reach it."""

    cluster_queue = TextField(
        max_length=names.MAX_CLUSTER_QUEUE,
        allow_blank=True,
        default="",
        help_text="The ClusterQueue; empty: the runs of this project use no queue.",
    )
    local_queue = TextField(
        max_length=names.MAX_LOCAL_QUEUE,
        allow_blank=True,
        default="",
        help_text="The LocalQueue that Atom makes in the project's namespace; empty: named like "
        "the ClusterQueue.",
    )
    uncounted = serializers.ListField(
        child=TextField(max_length=MAX_QUALIFIED),
        default=list,
        max_length=_MAX_RESOURCES,
        help_text="Resources that Kueue's configuration leaves out of quotas.",
    )

    def validate_cluster_queue(self, name: str) -> str:
        """Refuse what is no name."""
        return _checked(name, names.wrong_queue(name))

    def validate_local_queue(self, name: str) -> str:
        """Refuse what is no name."""
        return _checked(name, names.wrong_queue(name))

    def validate_uncounted(self, resources: list[str]) -> list[str]:
        """Refuse what no pod can ask for."""
        wrong = Sentence(
            "clusters.queue_resource_wrong",
            "Name the resource as pods ask for it, for instance cpu or nvidia.com/gpu.",
        )
        bad = {str(at): wrong for at, one in enumerate(resources) if not is_qualified(one)}
        if bad:
            raise serializers.ValidationError(bad)
        return sorted(set(resources))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a LocalQueue that cannot have the name of its ClusterQueue."""
        if wrong := names.wrong_pair(attrs["cluster_queue"], attrs["local_queue"]):
            raise serializers.ValidationError({"local_queue": wrong})
        return attrs


class ProjectRunQueueSerializer(RunQueueSerializer):
    """The queue of one project, in place of the one for all."""

    project = serializers.SlugRelatedField(slug_field="slug", queryset=Project.objects.all())


class ClusterQueueStateSerializer(serializers.Serializer[Any]):
    """A ClusterQueue as the last check of the cluster saw it."""

    name = serializers.CharField()
    state = serializers.ChoiceField(
        choices=STATES, help_text="unknown: the account may not read it."
    )
    reason = serializers.CharField(help_text="Kueue's own words, where it admits nothing.")
    covered = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Resources that it has a quota of; null: not known.",
    )


class KueueSerializer(serializers.Serializer[Any]):
    """Kueue as the last check of the cluster saw it."""

    version = serializers.CharField(help_text="The version of its API; empty: none that serves.")
    gates = serializers.BooleanField(
        allow_null=True,
        help_text="Whether a run keeps its place in the queue while it waits for its data; null: "
        "not known.",
    )
    cluster_queues = ClusterQueueStateSerializer(many=True)


class RunQueuesSerializer(serializers.Serializer[Any]):
    """All queues of a cluster."""

    every_project = RunQueueSerializer(
        allow_null=True, default=None, help_text="For projects without their own; null: no queue."
    )
    projects = ProjectRunQueueSerializer(  # type: ignore[call-arg]  # of the list
        many=True, default=list, max_length=_MAX_ROWS
    )

    kueue = KueueSerializer(read_only=True)

    def validate_every_project(self, row: dict[str, Any] | None) -> dict[str, Any] | None:
        """Refuse a row for all projects that names no queue."""
        if row is not None and not row["cluster_queue"]:
            missing = Sentence(
                "clusters.queue_unnamed", "Name the ClusterQueue of all projects, or leave it out."
            )
            raise serializers.ValidationError({"cluster_queue": missing})
        return row

    def validate_projects(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two queues of one project."""
        slugs = [row["project"].slug for row in rows]
        twice = next((slug for slug in slugs if slugs.count(slug) > 1), None)
        if twice is not None:
            said = Sentence(
                "clusters.quota_twice", "The project {project} stands there twice.", project=twice
            )
            raise serializers.ValidationError(said)
        return rows


class ClusterQueuesView(ClusterViewBase):
    """`clusters/<cluster>/queues/`: administrators of the installation write."""

    @extend_schema(operation_id="cluster_queues_get", responses=RunQueuesSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Show the queue for all projects, those of the caller's projects, and their state."""
        row = self.cluster_named(cluster)
        refuse_local(row)
        return self._shown(request, row)

    @extend_schema(
        operation_id="cluster_queues_set",
        request=RunQueuesSerializer,
        responses=RunQueuesSerializer,
    )
    def put(self, request: Request, cluster: str) -> Response:
        """Replace all queues, and ask the cluster whether it has them. New runs use them."""
        row = self.cluster_named(cluster)
        body = RunQueuesSerializer(data=request.data)
        check(body)
        common = body.validated_data["every_project"]
        own = {one.pop("project"): _choice(one) for one in body.validated_data["projects"]}
        set_queues(row, _choice(common) if common else None, own, user_of(request))
        row.refresh_from_db()
        return self._shown(request, row)

    def _shown(self, request: Request, cluster: Cluster) -> Response:
        token, user = token_of(request), user_of(request)
        mine = Project.objects.all()
        if token and token.project_id:
            mine = mine.filter(pk=token.project_id)
        elif not user.is_superuser:
            mine = mine.visible_to(user)
        rows = RunQueue.objects.filter(Q(project=None) | Q(project__in=mine), cluster=cluster)
        rows = rows.select_related("project").order_by("project__slug")
        common = next((one for one in rows if one.project_id is None), None)
        own = [one for one in rows if one.project_id is not None]
        shown = {
            "every_project": common,
            "projects": own,
            "kueue": _kueue(cluster, {one.cluster_queue for one in rows}),
        }
        return Response(RunQueuesSerializer(shown).data)


def _kueue(cluster: Cluster, named: set[str]) -> dict[str, Any]:
    """Return Kueue and the queues that the caller may know of."""
    facts = cluster.facts.get(QUEUES) or {}
    seen = facts.get("cluster_queues") or {}
    return {
        "version": version_in(cluster.facts),
        "gates": facts.get("gates"),
        "cluster_queues": [{"name": name, **seen[name]} for name in sorted(named & set(seen))],
    }


def _choice(row: dict[str, Any]) -> QueueChoice:
    return QueueChoice(row["cluster_queue"], row["local_queue"], tuple(row["uncounted"]))


def _checked(text: str, wrong: Sentence | None) -> str:
    if wrong is not None:
        raise serializers.ValidationError(wrong)
    return text
