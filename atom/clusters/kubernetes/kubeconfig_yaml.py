"""The YAML of a kubeconfig that somebody pasted, read as data within limits."""

from __future__ import annotations

from typing import Any, NoReturn

import yaml

from atom.clusters.kubernetes.errors import KubeconfigRefused
from atom_sdk.sentences import Sentence

MAX_CHARACTERS = 256 << 10
MAX_DEPTH = 12
MAX_VALUES = 5_000


def read_yaml(text: str) -> Any:
    """Return the value of a kubeconfig's text; each scalar in it is text.

    Raises KubeconfigRefused for YAML that is wrong, too large, too deep or has aliases.
    """
    if len(text) > MAX_CHARACTERS:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_too_large",
                "It has more than {max} characters.",
                max=MAX_CHARACTERS,
            )
        )
    try:
        text.encode()
        # Each scalar is text: YAML's own types would make numbers and times of names.
        loader = yaml.CBaseLoader(_counted(text))
        node = loader.get_single_node()
    except UnicodeEncodeError:
        _refuse_yaml(0)
    except yaml.MarkedYAMLError as error:
        # The error's own text shows the lines around it, which may hold a key.
        mark = error.problem_mark or error.context_mark
        _refuse_yaml(mark.line + 1 if mark else 0)
    except yaml.YAMLError:
        _refuse_yaml(0)
    return _value(node)


def _counted(text: str) -> str:
    """Return the text if it is small once read, which YAML's aliases make uncertain.

    Raises KubeconfigRefused, yaml.YAMLError.
    """
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.CBaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise KubeconfigRefused(
                Sentence(
                    "clusters.kubeconfig_alias",
                    "Line {line} has an anchor or alias, which no kubeconfig needs.",
                    line=line,
                )
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        values += isinstance(event, yaml.NodeEvent)
        if depth > MAX_DEPTH or values > MAX_VALUES:
            raise KubeconfigRefused(
                Sentence(
                    "clusters.kubeconfig_too_deep",
                    "It has more than {levels} levels or {values} values.",
                    levels=MAX_DEPTH,
                    values=MAX_VALUES,
                )
            )
    return text


def _value(node: yaml.Node | None) -> Any:
    """Return the value of a node. A key that stands twice is refused: readers take either."""
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    if not isinstance(node, yaml.MappingNode):
        return "" if node is None else node.value
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        name = key.value
        if not isinstance(name, str) or name in mapping:
            raise KubeconfigRefused(
                Sentence(
                    "clusters.kubeconfig_key_twice",
                    "Line {line} has a key that stands twice, or is no text.",
                    line=key.start_mark.line + 1,
                )
            )
        mapping[name] = _value(value)
    return mapping


def _refuse_yaml(line: int) -> NoReturn:
    raise KubeconfigRefused(
        Sentence("clusters.kubeconfig_not_yaml", "It is no YAML: line {line}.", line=line)
    )
