"""Which values a cluster's profile may have. Pure; each refusal is a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atom.clusters.engines.image_references import NOT_A_REPOSITORY, parse_repository
from atom_sdk.sentences import Sentence

OPERATORS = ("Equal", "Exists")
EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
MAX_TOLERATIONS = 20
MAX_SETTINGS = 50
MAX_VALUE = 500
MAX_NAME = 253
# A qualified name: a prefix, a slash and a name.
MAX_QUALIFIED = MAX_NAME + 1 + 63
IB_DISABLE = "NCCL_IB_DISABLE"
_LABEL = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PART = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_SUBDOMAIN = rf"{_PART}(?:\.{_PART})*"
_QUALIFIED = re.compile(rf"(?:(?P<prefix>{_SUBDOMAIN})/)?{_LABEL}")
_LABEL_VALUE = re.compile(rf"(?:{_LABEL})?")
_CLASS = re.compile(_SUBDOMAIN)
_SETTING = re.compile(r"(?:NCCL|UCX|GLOO|FI)_[A-Z0-9_]{1,100}")
# These settings make no sense, or end the program, without RDMA.
_RDMA_PREFIXES = ("NCCL_IB_", "NCCL_NET_GDR_", "UCX_", "FI_")
_RDMA_NAMES = frozenset({"NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_COLLNET_ENABLE",
                         "NCCL_DMABUF_ENABLE"})  # fmt: skip
_FOR_THE_CLUSTER = "system-"


def wrong_priority_class(name: str) -> Sentence | None:
    """Return why this is no name of a PriorityClass that runs may have; "" is none at all."""
    if name.startswith(_FOR_THE_CLUSTER):
        return Sentence(
            "clusters.priority_class_reserved",
            "Classes that begin with system- are for the cluster's own pods.",
        )
    if name and (len(name) > MAX_NAME or not _CLASS.fullmatch(name)):
        return Sentence(
            "clusters.priority_class_wrong",
            "A PriorityClass has lower-case letters, digits, dashes and dots in its name.",
        )
    return None


def wrong_toleration(toleration: Mapping[str, str]) -> dict[str, Sentence]:
    """Return what Kubernetes would refuse of a toleration, by field."""
    wrong: dict[str, Sentence] = {}
    key, value = toleration["key"], toleration["value"]
    exists = toleration["operator"] == "Exists"
    if not key and not exists:
        wrong["key"] = Sentence(
            "clusters.toleration_without_key",
            "Without a key the operator must be Exists: the pods then tolerate every taint.",
        )
    elif key and not is_qualified(key):
        wrong["key"] = Sentence(
            "clusters.toleration_key_wrong",
            "A key is a name of letters, digits, dashes, dots and underscores, after a domain and "
            "a slash if it has one.",
        )
    if value and exists:
        wrong["value"] = Sentence(
            "clusters.toleration_value_unused", "With the operator Exists leave the value empty."
        )
    elif not _LABEL_VALUE.fullmatch(value):
        wrong["value"] = Sentence(
            "clusters.toleration_value_wrong",
            "A value has up to 63 letters, digits, dashes, dots and underscores, and begins and "
            "ends with a letter or a digit.",
        )
    return wrong


def is_qualified(name: str) -> bool:
    """Return whether Kubernetes takes this as the key of a label, a taint or a resource."""
    found = _QUALIFIED.fullmatch(name)
    return found is not None and len(found["prefix"] or "") <= MAX_NAME


def wrong_rdma_resource(name: str) -> Sentence | None:
    """Return why this is no resource of an RDMA device plugin; "" is none at all."""
    prefix = name.partition("/")[0]
    is_extended = "/" in name and is_qualified(name)
    if not name or (is_extended and not prefix.endswith("kubernetes.io")):
        return None
    return Sentence(
        "clusters.rdma_resource_wrong",
        "Name the resource as the device plugin offers it, for instance rdma/hca_shared_devices_a.",
    )


def wrong_image_repository(name: str) -> Sentence | None:
    """Return why this is no repository that images are pushed to; "" is none at all."""
    return NOT_A_REPOSITORY if name and parse_repository(name) is None else None


def wrong_settings(settings: Mapping[str, str], *, has_rdma: bool) -> dict[str, Sentence]:
    """Return what is wrong with the settings of NCCL and its kin, by name."""
    found = {name: _wrong_setting(name, value, has_rdma) for name, value in settings.items()}
    return {name: sentence for name, sentence in found.items() if sentence is not None}


def _wrong_setting(name: str, value: str, has_rdma: bool) -> Sentence | None:
    if not _SETTING.fullmatch(name):
        return Sentence(
            "clusters.setting_name_wrong",
            "Only NCCL_, UCX_, GLOO_ and FI_ settings can be here, in capital letters.",
        )
    if name == IB_DISABLE:
        return Sentence(
            "clusters.setting_is_atoms",
            "Atom sets {name} itself: to 1 where RDMA is off.",
            name=name,
        )
    # Kubernetes would replace $(NAME) by another variable of the pod.
    if len(value) > MAX_VALUE or not value.isprintable() or "$(" in value:
        return Sentence(
            "clusters.setting_value_wrong",
            "A value is one line of at most {max} characters, without $(.",
            max=MAX_VALUE,
        )
    if needs_rdma(name) and not has_rdma:
        return Sentence(
            "clusters.setting_needs_rdma",
            "{name} needs RDMA: name its resource too, or leave this out.",
            name=name,
        )
    return None


def needs_rdma(name: str) -> bool:
    """Return whether a setting is for RDMA alone."""
    return name in _RDMA_NAMES or name.startswith(_RDMA_PREFIXES)


def repeated(tolerations: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the positions of tolerations that stand in the list before."""
    return [at for at, one in enumerate(tolerations) if one in tolerations[:at]]
