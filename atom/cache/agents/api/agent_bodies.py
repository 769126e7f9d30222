"""Shapes of the protocol of node agents. Each list has a limit; unknown fields are refused."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.core.names import TextField
from atom_sdk.sentences import Sentence

# Bytes that one disk or one pack may claim: 1 PiB.
MAX_BYTES: Final = 1 << 50
MAX_ROWS: Final = 10_000
MAX_PACKS: Final = 500_000
MAX_CARDS: Final = 64
MAX_EVENTS: Final = 1000
MAX_SECONDS: Final = 30 * 86_400
REASONS: Final = ("stalled", "digest", "refused", "missing", "disk_full", "read_only", "origin")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_VOLUME = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_INVENTORY = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
    "nullable": True,
}


def _bytes(**options: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=MAX_BYTES, **options)


def _rows(row: Any, most: int, **options: Any) -> Any:
    """Return a list of at most so many rows; the stubs know no limit of such lists."""
    return row(many=True, max_length=most, **options)


class AddressField(TextField):
    """`http://IP:PORT`, where peers reach an agent."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse any other address."""
        text = super().to_internal_value(data)
        try:
            parts = urlsplit(text)
            ip = ipaddress.ip_address(parts.hostname or "")
            port = parts.port
        except ValueError:
            ip, port = None, None
        host = f"[{ip}]" if isinstance(ip, ipaddress.IPv6Address) else str(ip)
        if ip is None or not port or text != f"http://{host}:{port}":
            raise serializers.ValidationError(
                Sentence("cache.agent_address", "An agent's address is http://IP:PORT.")
            )
        return text


class DigestField(serializers.RegexField):
    """A BLAKE3 digest as 64 hex digits."""

    def __init__(self, **options: Any) -> None:
        """The options of a RegexField."""
        super().__init__(_DIGEST, max_length=64, **options)


@extend_schema_field(_INVENTORY)
class InventoryField(serializers.Field[Any, Any, Any, Any]):
    """All packs of a node by project; read at once, since there may be many."""

    def to_internal_value(self, data: Any) -> dict[str, list[str]]:
        """Return digests by the project's UUID."""
        if not isinstance(data, dict) or not all(_is_inventory_row(row) for row in data.items()):
            raise serializers.ValidationError(
                Sentence("cache.agent_inventory", "Packs are lists of digests by project.")
            )
        if sum(len(digests) for digests in data.values()) > MAX_PACKS:
            raise serializers.ValidationError(
                Sentence(
                    "cache.agent_packs_many", "A node has at most {most} packs.", most=MAX_PACKS
                )
            )
        return data

    def to_representation(self, value: Any) -> Any:
        """Return the value as it is."""
        return value


def _is_inventory_row(row: tuple[str, Any]) -> bool:
    project, digests = row
    try:
        is_project = str(UUID(project)) == project
    except ValueError:
        return False
    return (
        is_project
        and isinstance(digests, list)
        and all(isinstance(digest, str) and _DIGEST.match(digest) for digest in digests)
    )


class AgentJoinSerializer(serializers.Serializer[Any]):
    """An agent, as it describes itself."""

    cluster = serializers.UUIDField()
    node = TextField(max_length=253)
    pod = TextField(max_length=253)
    pod_uid = TextField(max_length=64)
    address = AddressField(max_length=200)
    version = TextField(max_length=40)


class AgentJoinedSerializer(serializers.Serializer[Any]):
    """The agent's token, the key of its peers' tokens, and how often it speaks."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    node_id = serializers.UUIDField()
    peer_key = serializers.CharField(help_text="32 bytes as base64.")
    report_every_s = serializers.IntegerField()
    work_every_s = serializers.IntegerField()
    limit_bytes = serializers.IntegerField(allow_null=True)


class DiskSerializer(serializers.Serializer[Any]):
    """The disk of a node's cache, in bytes."""

    total_bytes = _bytes()
    free_bytes = _bytes()
    cache_bytes = _bytes()
    limit_bytes = _bytes(allow_null=True)
    is_read_only = serializers.BooleanField()
    problem = TextField(max_length=1000, allow_blank=True)


class CardLinkSerializer(serializers.Serializer[Any]):
    """How a card reaches another card of its node."""

    to = TextField(max_length=100)
    kind = serializers.ChoiceField(choices=["nvlink", "pcie", "numa"])


class CardSerializer(serializers.Serializer[Any]):
    """A card; `busy` is a share from 0 to 1, null where the card tells none."""

    index = serializers.IntegerField(min_value=0, max_value=1000)
    uuid = TextField(max_length=100)
    model = TextField(max_length=200)
    memory_bytes = _bytes()
    memory_used_bytes = _bytes()
    busy = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    links = _rows(CardLinkSerializer, MAX_CARDS)


class XidSerializer(serializers.Serializer[Any]):
    """An XID event of a card."""

    gpu = TextField(max_length=100)
    xid = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    at = serializers.DateTimeField()


class AgentReportSerializer(serializers.Serializer[Any]):
    """A report of an agent."""

    sequence = serializers.IntegerField(min_value=0, max_value=2**53)
    disk = DiskSerializer()
    packs = InventoryField(allow_null=True)
    gpus = _rows(CardSerializer, MAX_CARDS)
    xid_events = _rows(XidSerializer, MAX_EVENTS)


class FetchDoneSerializer(serializers.Serializer[Any]):
    """A fetch whose pack is whole on the disk."""

    fetch = serializers.UUIDField()
    bytes = _bytes()
    seconds = serializers.FloatField(min_value=0, max_value=MAX_SECONDS)


class FetchFailedSerializer(serializers.Serializer[Any]):
    """A fetch that failed."""

    fetch = serializers.UUIDField()
    reason = serializers.ChoiceField(choices=REASONS)
    detail = TextField(max_length=500, allow_blank=True, trim_whitespace=False)


class FetchProgressSerializer(serializers.Serializer[Any]):
    """The bytes of a fetch that came so far."""

    fetch = serializers.UUIDField()
    bytes = _bytes()


class PackNameSerializer(serializers.Serializer[Any]):
    """A pack of a project."""

    project = serializers.UUIDField()
    pack = DigestField()


class AgentWorkSerializer(serializers.Serializer[Any]):
    """Ends of fetches, and checks, since the last request that was answered."""

    room = serializers.IntegerField(min_value=0, max_value=1000)
    done = _rows(FetchDoneSerializer, MAX_ROWS)
    failed = _rows(FetchFailedSerializer, MAX_ROWS)
    progress = _rows(FetchProgressSerializer, MAX_ROWS)
    removed = _rows(PackNameSerializer, MAX_ROWS)
    verified = _rows(PackNameSerializer, MAX_ROWS, default=list)


class FetchSourceSerializer(serializers.Serializer[Any]):
    """A peer with its name and a token, or the origin."""

    kind = serializers.ChoiceField(choices=["peer", "origin"])
    url = serializers.CharField()
    node = serializers.CharField(required=False)
    token = serializers.CharField(required=False)


class FetchOrderSerializer(serializers.Serializer[Any]):
    """A pack to fetch."""

    fetch = serializers.UUIDField()
    plan = serializers.UUIDField()
    project = serializers.UUIDField()
    pack = serializers.CharField()
    size_bytes = serializers.IntegerField()
    rate_bytes_s = serializers.IntegerField(allow_null=True)
    source = FetchSourceSerializer()  # type: ignore[assignment]  # a field of the body


class PackRemovalSerializer(serializers.Serializer[Any]):
    """A pack to remove; with `verify` only if its bytes are wrong."""

    project = serializers.UUIDField()
    pack = serializers.CharField()
    verify = serializers.BooleanField(required=False)


class AgentOrdersSerializer(serializers.Serializer[Any]):
    """The next work of an agent."""

    fetches = FetchOrderSerializer(many=True)
    cancel = serializers.ListField(child=serializers.UUIDField())
    remove = PackRemovalSerializer(many=True)
    after_s = serializers.IntegerField()


class VolumeIdField(serializers.RegexField):
    """The id that a kubelet gives a volume."""

    def __init__(self, **options: Any) -> None:
        """The options of a RegexField."""
        super().__init__(_VOLUME, max_length=128, **options)


class HeldVolumesSerializer(serializers.Serializer[Any]):
    """All volumes of a node, and whether its kubelet knows the driver."""

    volumes = serializers.ListField(child=VolumeIdField(), max_length=MAX_ROWS)
    is_registered = serializers.BooleanField()
