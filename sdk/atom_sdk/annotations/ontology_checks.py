"""Faults of an ontology: repeated ids and names, circles, defaults that do not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from atom_sdk.annotations.json_values import shown
from atom_sdk.annotations.ontology_model import (
    ATTRIBUTE_KINDS,
    CLASSIFICATION,
    Attribute,
    Condition,
    Label,
    Ontology,
    Skeleton,
)
from atom_sdk.annotations.patterns import MAX_PATTERN_CHARACTERS, pattern_fault
from atom_sdk.annotations.problems import MAX_PROBLEMS, Problem
from atom_sdk.annotations.tracks import KIND_FIELDS
from atom_sdk.annotations.values import value_problem
from atom_sdk.sentences import Sentence

MAX_LABELS = 1000
MAX_NAME_CHARACTERS = 100
MAX_ID = 32_767
MAX_ATTRIBUTES = 1000
MAX_CHOICES = 1000
MAX_DEPTH = 16
MAX_SKELETON_POINTS = 255
TOOLS = (CLASSIFICATION, *KIND_FIELDS)


def problems_of_ontology(ontology: Ontology) -> list[Problem]:
    """Return the faults of an ontology, up to a hundred; empty when it is fine."""
    problems = [
        *_count(ontology.labels, "labels", MAX_LABELS),
        *_repeated([it.id for it in ontology.labels], "labels", "id"),
        *_repeated([it.name for it in ontology.labels], "labels", "name"),
        *_repeated([it.hotkey for it in ontology.labels], "labels", "hotkey"),
        *_attribute_ids(ontology),
        *_below("schema", _attributes(ontology.attributes, ontology.attributes)),
        *_below("schema", _relations(ontology)),
    ]
    for index, label in enumerate(ontology.labels):
        problems += _below(f"labels/{index}", _label(label, ontology))
        if len(problems) >= MAX_PROBLEMS:
            break
    return problems[:MAX_PROBLEMS]


def _label(label: Label, ontology: Ontology) -> Iterator[Problem]:
    yield from _identity(label.id, label.name, "")
    for index, tool in enumerate(label.tools):
        if tool not in TOOLS:
            known = ", ".join(TOOLS)
            yield Problem(
                f"tools/{index}",
                Sentence(
                    "annotations.tool_unknown",
                    "There is no tool {value}. Tools: {tools}.",
                    value=shown(tool),
                    tools=known,
                ),
            )
    if label.parent is not None:
        yield from _parents(label, ontology)
    if label.skeleton is not None:
        yield from _below("skeleton", _skeleton(label.skeleton))
    elif "keypoints" in label.tools:
        yield Problem(
            "skeleton",
            Sentence("annotations.skeleton_missing", "The tool keypoints needs a skeleton."),
        )
    yield from _attributes(label.attributes, ontology.attributes_of(label.id))


def _parents(label: Label, ontology: Ontology) -> Iterator[Problem]:
    if label.parent not in ontology.label_of:
        yield Problem(
            "parent",
            Sentence("annotations.parent_unknown", "There is no label {id}.", id=label.parent),
        )
        return
    lineage = list(ontology.lineage(label.id))
    if lineage[-1].parent is not None and lineage[-1].parent in ontology.label_of:
        yield Problem(
            "parent", Sentence("annotations.parents_in_circle", "This label is its own ancestor.")
        )
    elif len(lineage) > MAX_DEPTH:
        yield Problem(
            "parent",
            Sentence(
                "annotations.nested_too_deep",
                "Labels are nested at most {most} deep.",
                most=MAX_DEPTH,
            ),
        )


def _skeleton(skeleton: Skeleton) -> Iterator[Problem]:
    count = len(skeleton.points)
    if not 1 <= count <= MAX_SKELETON_POINTS:
        yield Problem(
            "points",
            Sentence(
                "annotations.skeleton_points",
                "A skeleton has 1 to {most} points.",
                most=MAX_SKELETON_POINTS,
            ),
        )
    yield from _repeated(skeleton.points, "points", "name")
    for index, name in enumerate(skeleton.points):
        yield from _name(name, f"points/{index}")
    for field, pairs in (("edges", skeleton.edges), ("flips", skeleton.flips)):
        for index, (first, second) in enumerate(pairs):
            if first == second or not (0 <= first < count and 0 <= second < count):
                yield Problem(
                    f"{field}/{index}",
                    Sentence(
                        "annotations.pair_unknown",
                        "A pair names two points by their numbers from 0 to {last}.",
                        last=count - 1,
                    ),
                )
    ends = [number for pair in skeleton.flips for number in pair]
    yield from _repeated(ends, "flips", "point")
    sigmas = skeleton.sigmas
    if sigmas is not None and not (len(sigmas) == count and all(it > 0 for it in sigmas)):
        yield Problem(
            "sigmas",
            Sentence(
                "annotations.sigmas_differ",
                "Sigmas are positive numbers, one for each of the {count} points.",
                count=count,
            ),
        )


def _attribute_ids(ontology: Ontology) -> Iterator[Problem]:
    everywhere = [*ontology.attributes, *(it for lb in ontology.labels for it in lb.attributes)]
    yield from _count(everywhere, "schema/attributes", MAX_ATTRIBUTES, least=0)
    for number, times in Counter(it.id for it in everywhere).items():
        if times > 1:
            pointer = "schema/attributes"
            yield Problem(
                pointer,
                Sentence(
                    "annotations.attribute_id_repeated",
                    "The attribute id {id} comes {times} times. Ids are unique in an ontology.",
                    id=number,
                    times=times,
                ),
            )


def _attributes(own: Sequence[Attribute], scope: Sequence[Attribute]) -> Iterator[Problem]:
    yield from _repeated([it.name for it in scope], "attributes", "name")
    for index, attribute in enumerate(own):
        yield from _below(f"attributes/{index}", _attribute(attribute, scope))


def _attribute(attribute: Attribute, scope: Sequence[Attribute]) -> Iterator[Problem]:
    yield from _identity(attribute.id, attribute.name, "")
    if attribute.kind not in ATTRIBUTE_KINDS:
        kinds = ", ".join(ATTRIBUTE_KINDS)
        kind = shown(attribute.kind)
        yield Problem(
            "kind",
            Sentence(
                "annotations.attribute_kind_unknown",
                "There is no kind of attribute {value}. Kinds: {kinds}.",
                value=kind,
                kinds=kinds,
            ),
        )
        return
    yield from _choices(attribute)
    yield from _limits(attribute)
    if attribute.when is not None:
        yield from _below("when", _condition(attribute, attribute.when, scope))
    if attribute.default is not None:
        fault = value_problem(attribute, attribute.default)
        if fault is not None:
            yield Problem("default", fault)


def _choices(attribute: Attribute) -> Iterator[Problem]:
    if attribute.kind != "choice":
        if attribute.choices or attribute.multiple:
            yield Problem(
                "choices",
                Sentence(
                    "annotations.choices_of_no_choice",
                    "Only an attribute of the kind choice has choices.",
                ),
            )
        return
    yield from _count(attribute.choices, "choices", MAX_CHOICES)
    yield from _repeated([it.id for it in attribute.choices], "choices", "id")
    yield from _repeated([it.name for it in attribute.choices], "choices", "name")
    for index, choice in enumerate(attribute.choices):
        yield from _identity(choice.id, choice.name, f"choices/{index}")


def _limits(attribute: Attribute) -> Iterator[Problem]:
    yield from _limits_of_others(attribute)
    if attribute.kind == "number":
        low, high = attribute.min, attribute.max
        if low is not None and high is not None and low > high:
            yield Problem("min", Sentence("annotations.min_over_max", "min is larger than max."))
        if attribute.step is not None and attribute.step <= 0:
            yield Problem(
                "step", Sentence("annotations.step_not_positive", "A step is larger than 0.")
            )
    if attribute.kind == "text":
        if attribute.max_length is not None and attribute.max_length < 1:
            yield Problem(
                "max_length", Sentence("annotations.max_length_small", "max_length is 1 or more.")
            )
        if attribute.pattern:
            yield from _pattern(attribute.pattern)


def _limits_of_others(attribute: Attribute) -> Iterator[Problem]:
    owners = {"min": "number", "max": "number", "step": "number"}
    for name, kind in (owners | {"pattern": "text", "max_length": "text"}).items():
        if getattr(attribute, name) not in (None, "") and attribute.kind != kind:
            yield Problem(
                name,
                Sentence(
                    "annotations.limit_of_other_kind",
                    "Only an attribute of the kind {kind} has {name}.",
                    kind=kind,
                    name=name,
                ),
            )


def _pattern(pattern: str) -> Iterator[Problem]:
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        yield Problem(
            "pattern",
            Sentence(
                "annotations.pattern_too_long",
                "A pattern has at most {most} characters.",
                most=MAX_PATTERN_CHARACTERS,
            ),
        )
    elif (reason := pattern_fault(pattern)) is not None:
        yield Problem(
            "pattern",
            Sentence(
                "annotations.pattern_unreadable",
                "The pattern is no regular expression of RE2: {reason}",
                reason=reason,
            ),
        )


def _condition(
    attribute: Attribute, when: Condition, scope: Sequence[Attribute]
) -> Iterator[Problem]:
    other = next((it for it in scope if it.id == when.attribute), None)
    if other is None:
        yield Problem(
            "attribute",
            Sentence(
                "annotations.condition_unknown",
                "There is no attribute {id} beside this one.",
                id=when.attribute,
            ),
        )
        return
    if other.kind == "choice":
        known: set[tuple[type, int]] = {(int, choice.id) for choice in other.choices}
    elif other.kind == "flag":
        known = {(bool, True), (bool, False)}
    else:
        yield Problem(
            "attribute",
            Sentence(
                "annotations.condition_of_other_kind",
                "A condition names an attribute of the kind choice or flag.",
            ),
        )
        return
    if not when.values or not {(type(it), it) for it in when.values} <= known:
        yield Problem(
            "is",
            Sentence(
                "annotations.condition_value_unknown",
                "A condition lists values that attribute {id} can have.",
                id=other.id,
            ),
        )
    if _is_circle(attribute, scope):
        yield Problem(
            "attribute",
            Sentence("annotations.conditions_in_circle", "The conditions go in a circle."),
        )


def _is_circle(attribute: Attribute, scope: Sequence[Attribute]) -> bool:
    by_id = {it.id: it for it in scope}
    current: Attribute | None = attribute
    for _ in range(len(by_id) + 1):
        if current is None or current.when is None:
            return False
        current = by_id.get(current.when.attribute)
    return True


def _relations(ontology: Ontology) -> Iterator[Problem]:
    yield from _count(ontology.relations, "relations", MAX_LABELS, least=0)
    yield from _repeated([it.id for it in ontology.relations], "relations", "id")
    yield from _repeated([it.name for it in ontology.relations], "relations", "name")
    for index, kind in enumerate(ontology.relations):
        pointer = f"relations/{index}"
        yield from _identity(kind.id, kind.name, pointer)
        for end, labels in (("from", kind.subjects), ("to", kind.objects)):
            for number in labels or ():
                if number not in ontology.label_of:
                    yield Problem(
                        f"{pointer}/{end}",
                        Sentence("annotations.label_unknown", "There is no label {id}.", id=number),
                    )


def _identity(number: int, name: str, pointer: str) -> Iterator[Problem]:
    if not 0 <= number <= MAX_ID:
        yield Problem(
            f"{pointer}/id".strip("/"),
            Sentence(
                "annotations.id_out_of_range", "An id is a number from 0 to {most}.", most=MAX_ID
            ),
        )
    yield from _name(name, f"{pointer}/name".strip("/"))


def _name(name: str, pointer: str) -> Iterator[Problem]:
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or not name.isprintable() or name != name.strip():
        yield Problem(
            pointer,
            Sentence(
                "annotations.name_unusable",
                "A name has 1 to {most} printable characters, and no blank at its ends.",
                most=MAX_NAME_CHARACTERS,
            ),
        )


def _count(items: Sequence[Any], pointer: str, most: int, least: int = 1) -> Iterator[Problem]:
    if not least <= len(items) <= most:
        yield Problem(
            pointer,
            Sentence(
                "annotations.count_out_of_range",
                "This list has {least} to {most} items, not {count}.",
                least=least,
                most=most,
                count=len(items),
            ),
        )


def _repeated(values: Sequence[Any], pointer: str, field: str) -> Iterator[Problem]:
    for value, times in Counter(it for it in values if it != "").items():
        if times > 1:
            params: dict[str, Any] = {"field": field, "value": shown(value), "times": times}
            yield Problem(
                pointer,
                Sentence(
                    "annotations.value_repeated",
                    "The {field} {value} comes {times} times.",
                    **params,
                ),
            )


def _below(prefix: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    return (it.below(prefix) for it in problems)
