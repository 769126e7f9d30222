"""Labels of an ontology: stable small ids, colours, hotkeys, and every field of their JSON.

The rules of tools, parents, attributes and skeletons are those of `atom_sdk.annotations`.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MAX_LABELS = 1000
MAX_NAME_LENGTH = 100
MAX_LABEL_ID = 32_767
MAX_ATTRIBUTES = 1000
MAX_CHOICES = 1000
CLASSIFICATION: Final = "classification"
_DIGIT_KEYS = "1234567890"
# Okabe and Ito's palette (2008), which most colour-blind people can distinguish; it repeats after
# eight.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#7F7F7F",
)
_ATTRIBUTE: Final[Mapping[str, Any]] = {
    "kind": "choice", "required": False, "default": None, "choices": [], "multiple": False,
    "min": None, "max": None, "step": None, "pattern": None, "max_length": None,
    "per_frame": False, "when": None,
}  # fmt: skip
_LABEL: Final[Mapping[str, Any]] = {
    "parent": None, "tools": [CLASSIFICATION], "attributes": [], "skeleton": None, "ignore": False,
}  # fmt: skip
_SCHEMA: Final[Mapping[str, Any]] = {"multiple": False, "attributes": [], "relations": []}
_RELATION: Final[Mapping[str, Any]] = {"from": None, "to": None}
_SKELETON: Final[Mapping[str, Any]] = {"edges": [], "flips": [], "sigmas": None}


@dataclass(frozen=True)
class Label:
    """One class; `id` never changes its meaning within an ontology."""

    id: int
    name: str
    color: str
    hotkey: str
    parent: int | None = None
    tools: list[str] = field(default_factory=lambda: [CLASSIFICATION])
    attributes: list[dict[str, Any]] = field(default_factory=list)
    skeleton: dict[str, Any] | None = None
    ignore: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the label as the `labels` column holds it."""
        return asdict(self)


def complete_labels(
    asked: Sequence[Mapping[str, Any]],
    ids_by_name: Mapping[str, int] | None = None,
    used_ids: Collection[int] = (),
) -> list[Label]:
    """Return the labels with ids, colours and hotkeys filled in, in the given order.

    A name of `ids_by_name` gets its id, a new one an id outside of `used_ids`. Digit-named labels
    ("0" … "9") get their own digit as hotkey, others 1, 2, … 9, 0.
    """
    known = ids_by_name or {}
    taken_ids = {int(label["id"]) for label in asked if label.get("id") is not None}
    taken_keys = {str(label["hotkey"]) for label in asked if label.get("hotkey")}
    names = {str(label["name"]).strip() for label in asked}
    taken_ids |= {known[name] for name in names & set(known)} | set(used_ids)
    free_ids = iter(n for n in range(len(asked) + len(taken_ids) + 1) if n not in taken_ids)
    # One key each: a name such as "12" is no key, though its digits are.
    own_keys = names & set(_DIGIT_KEYS) - taken_keys
    free_keys = iter([k for k in _DIGIT_KEYS if k not in taken_keys | own_keys])
    labels = []
    for index, label in enumerate(asked):
        name = str(label["name"]).strip()
        key = str(label.get("hotkey") or "")
        if not key:
            key = name if name in own_keys else next(free_keys, "")
        label_id = label["id"] if label.get("id") is not None else known.get(name)
        color = str(label.get("color") or PALETTE[index % len(PALETTE)])
        rest = {name: full[name] for full in [full_label(label)] for name in _LABEL}
        labels.append(
            Label(next(free_ids) if label_id is None else int(label_id), name, color, key, **rest)
        )
    return labels


def full_label(label: Mapping[str, Any]) -> dict[str, Any]:
    """Return a label's JSON with every field."""
    whole = {**_LABEL, **label}
    whole["attributes"] = [full_attribute(one) for one in whole["attributes"]]
    if whole["skeleton"] is not None:
        whole["skeleton"] = {**_SKELETON, **whole["skeleton"]}
    return whole


def full_labels(labels: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the labels' JSON with every field; before objects, a label had four."""
    return [full_label(label) for label in labels]


def full_attribute(attribute: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attribute's JSON with every field."""
    return {**_ATTRIBUTE, **attribute}


def full_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema's JSON with every field."""
    whole = {**_SCHEMA, **schema}
    whole["attributes"] = [full_attribute(one) for one in whole["attributes"]]
    whole["relations"] = [{**_RELATION, **one} for one in whole["relations"]]
    return whole


def attributes_of(
    labels: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield `(label id, attribute)` of all labels, and those of the whole picture with None."""
    for label in labels:
        for attribute in label.get("attributes", []):
            yield label.get("id"), attribute
    for attribute in schema.get("attributes", []):
        yield None, attribute


def problems_of(labels: Sequence[Label]) -> list[str]:
    """Return what is wrong with a set of labels, in plain sentences; empty when it is fine."""
    if not labels:
        return ["Give at least one label."]
    if len(labels) > MAX_LABELS:
        return [f"At most {MAX_LABELS} labels."]
    found = [f"The name {name!r} comes twice." for name in _repeated(x.name for x in labels)]
    found += [f"The id {number} comes twice." for number in _repeated(x.id for x in labels)]
    keys = _repeated(x.hotkey for x in labels if x.hotkey)
    found += [f"The hotkey {key!r} comes twice." for key in keys]
    if any(not 0 < len(label.name) <= MAX_NAME_LENGTH for label in labels):
        found.append(f"A name has 1 to {MAX_NAME_LENGTH} characters.")
    if any(not 0 <= label.id <= MAX_LABEL_ID for label in labels):
        found.append(f"An id is a number from 0 to {MAX_LABEL_ID}.")
    return found


def _repeated(values: Any) -> list[Any]:
    return [value for value, count in Counter(values).items() if count > 1]
