"""Labels of an ontology: stable small ids, colours and hotkeys."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MAX_LABELS = 1000
MAX_NAME_LENGTH = 100
MAX_LABEL_ID = 32_767
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


@dataclass(frozen=True)
class Label:
    """One class; `id` never changes its meaning within an ontology."""

    id: int
    name: str
    color: str
    hotkey: str

    def as_json(self) -> dict[str, Any]:
        """Return the label as the `labels` column holds it."""
        return asdict(self)


def complete_labels(given: Sequence[Mapping[str, Any]]) -> list[Label]:
    """Return the labels with ids, colours and hotkeys filled in, in the given order.

    Digit-named labels ("0" … "9") get their own digit as hotkey, others 1, 2, … 9, 0.
    """
    taken_ids = {int(label["id"]) for label in given if label.get("id") is not None}
    taken_keys = {str(label["hotkey"]) for label in given if label.get("hotkey")}
    free_ids = iter(n for n in range(len(given) + len(taken_ids) + 1) if n not in taken_ids)
    names = {str(label["name"]).strip() for label in given}
    # One key each: a name such as "12" is no key, though its digits are.
    own_keys = names & set(_DIGIT_KEYS) - taken_keys
    free_keys = iter([k for k in _DIGIT_KEYS if k not in taken_keys | own_keys])
    labels = []
    for index, label in enumerate(given):
        name = str(label["name"]).strip()
        key = str(label.get("hotkey") or "")
        if not key:
            key = name if name in own_keys else next(free_keys, "")
        label_id = int(label["id"]) if label.get("id") is not None else next(free_ids)
        color = str(label.get("color") or PALETTE[index % len(PALETTE)])
        labels.append(Label(label_id, name, color, key))
    return labels


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
