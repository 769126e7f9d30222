"""Features of a data set of Hugging Face: what its schema says beyond the types of columns.

`datasets` writes them as JSON into the schema's metadata, under `huggingface`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_LISTS = frozenset(["Sequence", "List", "LargeList"])
_MEDIA = frozenset(["Image", "Audio", "Video"])


def features_of(schema: pa.Schema) -> Mapping[str, Any]:
    """Return the feature of each column; none where the schema does not say."""
    try:
        document = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = document["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def is_media(feature: Any) -> bool:
    """Whether a feature is a picture, a sound or a video."""
    return isinstance(feature, dict) and feature.get("_type") in _MEDIA


def class_names(feature: Any) -> list[str]:
    """Return the names of a class label, none for another feature."""
    names = feature.get("names") if isinstance(feature, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else []


def with_names(value: Any, feature: Any) -> Any:
    """Return a value in which the numbers of classes are their names, at any depth."""
    if value is None or feature is None:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        names = class_names(feature)
        return names[value] if 0 <= value < len(names) else value
    if isinstance(value, list):
        item = _item_feature(feature)
        return [with_names(one, item) for one in value]
    if isinstance(value, dict):
        fields = _fields(feature)
        return {name: with_names(one, fields.get(name)) for name, one in value.items()}
    return value


def _item_feature(feature: Any) -> Any:
    if isinstance(feature, list):
        return feature[0] if feature else None
    if isinstance(feature, dict) and feature.get("_type") in _LISTS:
        return feature.get("feature")
    # A sequence of structs is stored as a struct of lists, whose fields are of single items.
    return feature


def _fields(feature: Any) -> Mapping[str, Any]:
    if isinstance(feature, dict) and feature.get("_type") in _LISTS:
        feature = feature.get("feature")
    return feature if isinstance(feature, dict) else {}
