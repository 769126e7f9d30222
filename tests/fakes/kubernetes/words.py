"""The sentences of the API about names and labels."""

from __future__ import annotations

import re

from .errors import Cause, wrong

_LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_PATTERN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

# Each: the pattern, the greatest length, the sentence.
LABEL = (
    re.compile(_LABEL_PATTERN),
    63,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL_PATTERN}')",
)
SUBDOMAIN = (
    re.compile(_SUBDOMAIN_PATTERN),
    253,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN_PATTERN}')",
)
_VALUE_PATTERN = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_VALUE = re.compile(_VALUE_PATTERN)
_VALUE_SENTENCE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '{_VALUE_PATTERN}')"
)


def name_fault(name: str, rule: tuple[re.Pattern[str], int, str]) -> str:
    """Return how a name breaks a rule, or nothing."""
    pattern, longest, sentence = rule
    if len(name) > longest:
        return f"must be no more than {longest} characters"
    return "" if pattern.fullmatch(name) else sentence


def label_value_causes(labels: dict[str, str] | None, path: str) -> list[Cause]:
    """Return the labels whose values are refused."""
    causes: list[Cause] = []
    for value in (labels or {}).values():
        if len(value) > 63:
            causes.append(wrong(path, f'"{value}"', "must be no more than 63 bytes"))
        elif not _VALUE.fullmatch(value):
            causes.append(wrong(path, f'"{value}"', _VALUE_SENTENCE))
    return causes
