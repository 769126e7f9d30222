"""Clusters as the API shows them. Kubeconfigs go in and never come out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.models import Project
from atom.clusters.kubernetes.kubeconfig_yaml import MAX_CHARACTERS
from atom.clusters.models import AcceleratorPrice, Cluster, Node, NodeAccelerator, StoreRoute
from atom.clusters.registration.actions.registering import ClusterOptions, Credentials
from atom.clusters.registration.engines.findings import LEVELS
from atom.core.names import NameField, TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom_sdk.sentences import Sentence

_NAME = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"
_CURRENCY = r"^[A-Z]{3}$"
_MAX_ROWS = 100


class UsedSerializer(serializers.Serializer[Any]):
    """Resources that runs hold on a node; in registered clusters once their runner has begun."""

    cpus = serializers.IntegerField(source="used_cpus")
    memory_bytes = serializers.IntegerField(source="used_memory_bytes")
    gpus = serializers.IntegerField(source="used_gpus")


class NodeAcceleratorSerializer(serializers.ModelSerializer[NodeAccelerator]):
    """Accelerators of one kind on a node."""

    resource = serializers.CharField(
        help_text="The resource by which pods ask for them; empty: runs cannot ask for them."
    )

    used = serializers.IntegerField(
        allow_null=True,
        default=None,
        help_text="How many runs hold; null: not known for this kind.",
    )

    class Meta:
        model = NodeAccelerator
        fields = ("kind", "count", "resource", "used")


class NodeSerializer(serializers.ModelSerializer[Node]):
    """A machine; the queryset is `Node.objects.with_used()`."""

    used = UsedSerializer(source="*")
    accelerators = NodeAcceleratorSerializer(many=True)
    ready = serializers.SerializerMethodField()

    class Meta:
        model = Node
        fields = (
            "id", "name", "cpu_count", "memory_bytes", "gpu_count", "gpu_model", "accelerators",
            "schedulable", "ready", "heartbeat_at", "used",
        )  # fmt: skip

    def get_ready(self, node: Node) -> bool:
        """Return whether it answered when it was asked last."""
        return node.ready_since is not None


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A set of machines."""

    nodes = NodeSerializer(many=True)

    class Meta:
        model = Cluster
        fields = ("id", "name", "kind", "state", "single_user", "heartbeat_at", "nodes")


class PriceSerializer(serializers.ModelSerializer[AcceleratorPrice]):
    """The price of an hour of one accelerator."""

    kind = NameField(max_length=100)
    per_hour = serializers.DecimalField(max_digits=14, decimal_places=4, min_value=0)
    currency = serializers.RegexField(_CURRENCY, help_text="Three letters, as in ISO 4217.")

    class Meta:
        model = AcceleratorPrice
        fields = ("kind", "per_hour", "currency")


class RouteSerializer(serializers.ModelSerializer[StoreRoute]):
    """The way between the cluster and a store."""

    store = NameField(max_length=200, help_text='"atom" for the installation\'s own store.')
    bandwidth_bytes_per_s = serializers.IntegerField(
        min_value=1, max_value=1 << 50, allow_null=True, default=None
    )
    egress_per_gib = serializers.DecimalField(
        max_digits=14, decimal_places=6, min_value=0, default=Decimal(0)
    )
    currency = serializers.RegexField(_CURRENCY, help_text="Three letters, as in ISO 4217.")

    class Meta:
        model = StoreRoute
        fields = ("store", "bandwidth_bytes_per_s", "egress_per_gib", "currency")


class ClusterFindingSerializer(serializers.Serializer[Any]):
    """One thing that a check of the cluster found."""

    code = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    detail = serializers.CharField()
    detail_code = serializers.CharField()
    detail_params = serializers.DictField()
    evidence = serializers.DictField()


class ClusterDetailSerializer(ClusterSerializer):
    """A cluster; what only administrators of the installation see is null for others."""

    prices = PriceSerializer(many=True)
    stores = RouteSerializer(many=True, source="routes")
    version = serializers.SerializerMethodField()
    accelerators = serializers.SerializerMethodField()
    server = serializers.SerializerMethodField()
    namespace = serializers.SerializerMethodField()
    projects = serializers.SerializerMethodField()
    facts = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()
    problem = serializers.SerializerMethodField()

    class Meta(ClusterSerializer.Meta):
        fields = (  # type: ignore[assignment]  # more than the list shows
            *ClusterSerializer.Meta.fields, "checked_at", "version", "accelerators", "prices",
            "stores", "server", "namespace", "projects", "facts", "findings", "problem",
        )  # fmt: skip

    @property
    def _is_for_administrators(self) -> bool:
        return bool(self.context.get("administrates"))

    def get_version(self, cluster: Cluster) -> str:
        """Return the version of Kubernetes; empty for other kinds."""
        return str(cluster.facts.get("version", ""))

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_accelerators(self, cluster: Cluster) -> dict[str, int]:
        """Return how many accelerators of each kind it has."""
        return dict(cluster.facts.get("accelerators", {}))

    def get_server(self, cluster: Cluster) -> str | None:
        """Return the address of its API, for administrators of the installation."""
        return cluster.server if self._is_for_administrators else None

    def get_namespace(self, cluster: Cluster) -> str | None:
        """Return the namespace of Atom's jobs, for administrators of the installation."""
        return cluster.namespace if self._is_for_administrators else None

    def get_projects(self, cluster: Cluster) -> list[str] | None:
        """Return the projects that may use it; null: all, or the caller may not know."""
        if cluster.all_projects or not self._is_for_administrators:
            return None
        return sorted(cluster.projects.values_list("slug", flat=True))

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_facts(self, cluster: Cluster) -> dict[str, Any] | None:
        """Return facts of the last check, for administrators of the installation."""
        return cluster.facts if self._is_for_administrators else None

    @extend_schema_field(ClusterFindingSerializer(many=True, allow_null=True))
    def get_findings(self, cluster: Cluster) -> list[dict[str, Any]] | None:
        """Return findings of the last check, for administrators of the installation."""
        return cluster.findings if self._is_for_administrators else None

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_problem(self, cluster: Cluster) -> dict[str, Any] | None:
        """Return why the last check did not reach it, for administrators of the installation."""
        if not self._is_for_administrators:
            return None
        return stored_failure(cluster.problem_code, cluster.problem_detail)


class DryRunResultSerializer(serializers.Serializer[Any]):
    """The result of a check that keeps nothing."""

    server = serializers.CharField()
    context = serializers.CharField()  # type: ignore[assignment]  # a field of the body
    passed = serializers.BooleanField(help_text="Whether no finding has the level fail.")
    findings = ClusterFindingSerializer(many=True)
    facts = serializers.DictField()


class CredentialsSerializer(serializers.Serializer[Any]):
    """A kubeconfig, or the account of the server's own pod."""

    kubeconfig = TextField(
        max_length=MAX_CHARACTERS,
        write_only=True,
        required=False,
        trim_whitespace=False,
        help_text="As kubectl config view --minify --flatten --raw writes it; never shown again.",
    )
    context = TextField(  # type: ignore[assignment]  # a field of the body
        max_length=253, required=False, help_text="Else the current one."
    )
    in_cluster = serializers.BooleanField(
        required=False, help_text="Use the account of the pod that the server runs in."
    )
    namespace = serializers.RegexField(
        _NAME, required=False, help_text="The namespace of Atom's jobs; else the context's."
    )
    needs_credentials = True

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse both ways at once, and neither where one is needed."""
        ways = [bool(attrs.get("kubeconfig")), bool(attrs.get("in_cluster"))]
        if all(ways) or (self.needs_credentials and not any(ways)):
            raise serializers.ValidationError(
                {
                    "kubeconfig": Sentence(
                        "clusters.one_way_to_connect",
                        "Give a kubeconfig, or in_cluster, and not both.",
                    )
                }
            )
        return attrs

    @property
    def credentials(self) -> Credentials | None:
        """Return the credentials that were sent; None without any."""
        data = self.validated_data
        if not data.get("kubeconfig") and not data.get("in_cluster"):
            return None
        return Credentials(
            data.get("kubeconfig", ""), data.get("context", ""), data.get("in_cluster", False)
        )


class ClusterChangesSerializer(CredentialsSerializer):
    """Changes to a cluster."""

    projects = serializers.ManyRelatedField(
        child_relation=serializers.SlugRelatedField(
            slug_field="slug", queryset=Project.objects.all()
        ),
        required=False,
        allow_null=True,
        help_text="Projects that may use it; null: all.",
    )
    prices = PriceSerializer(  # type: ignore[call-arg]  # of the list
        many=True, required=False, max_length=_MAX_ROWS
    )
    stores = RouteSerializer(  # type: ignore[call-arg]  # of the list
        many=True, required=False, max_length=_MAX_ROWS
    )
    needs_credentials = False

    def validate_prices(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two prices of one kind."""
        return _each_once(rows, "kind")

    def validate_stores(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two ways to one store."""
        return _each_once(rows, "store")

    @property
    def options(self) -> ClusterOptions:
        """Return the settings that were sent."""
        data = self.validated_data
        projects = data.get("projects")
        return ClusterOptions(
            namespace=data.get("namespace"),
            projects=projects,
            all_projects=projects is None if "projects" in data else None,
            prices=data.get("prices"),
            routes=data.get("stores"),
        )


class NewClusterSerializer(ClusterChangesSerializer):
    """A cluster to register."""

    name = serializers.RegexField(
        _NAME, help_text="1 to 63 lower-case letters, digits and dashes; it cannot be changed."
    )
    needs_credentials = True


def _each_once(rows: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    names = [row[key] for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise serializers.ValidationError(
                Sentence("clusters.named_twice", "{name} stands there twice.", name=name)
            )
    return rows
