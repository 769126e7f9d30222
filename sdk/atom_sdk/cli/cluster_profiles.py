"""`atom cluster profile`: priority, tolerations, RDMA, NCCL settings and images of pods."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.options import Size

Row = dict[str, Any]
_TEXTS = ("priority_class", "rdma_resource", "image_repository")
_SHOWN_ONLY = ("rdma", "has_image_credentials")
_SETTING = re.compile(r"[A-Z][A-Z0-9_]*")
_UNLIMITED = "unlimited"
_MAX_BYTES = 1 << 20


@click.command()
@click.argument("name")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="priority_class, rdma_resource, rdma_count, memlock (8g, unlimited), image_repository, or "
    "a setting such as NCCL_DEBUG; an empty value takes it away.",
)
@click.option(
    "--toleration",
    "tolerations",
    multiple=True,
    metavar="KEY[=VALUE][:EFFECT]",
    help="As kubectl taint writes a taint; these take the place of all before.",
)
@click.option("--no-tolerations", is_flag=True, help="Take all tolerations away.")
@click.option(
    "--image-credentials",
    "credentials",
    metavar="FILE",
    help="A Docker configuration to push images with, as docker login writes it; - reads input.",
)
@click.option("--no-image-credentials", is_flag=True, help="Forget the stored ones.")
@click.option("--from", "file", metavar="FILE", help="A whole profile as JSON; - reads input.")
@pass_context
def profile(
    context: Context,
    /,
    name: str,
    changes: tuple[str, ...],
    tolerations: tuple[str, ...],
    no_tolerations: bool,
    credentials: str | None,
    no_image_credentials: bool,
    file: str | None,
) -> None:
    """Show how pods fit a cluster, and whether RDMA is on; with an option, change it."""
    clusters = context.client.clusters
    edit = _Edit(changes, tolerations, no_tolerations, credentials, no_image_credentials)
    edit.check(file)
    if file is not None:
        row = clusters.set_profile(name, **_settings_of(read_json(file, "--from")))
    elif edit.is_change:
        row = clusters.set_profile(name, **edit.apply(_settings_of(clusters.profile(name))))
    else:
        row = clusters.profile(name)
    context.emit(row, lambda out: _print(out, row))


@dataclass(frozen=True)
class _Edit:
    """The options that change parts of a profile."""

    changes: tuple[str, ...]
    tolerations: tuple[str, ...]
    no_tolerations: bool
    credentials: str | None
    no_credentials: bool

    @property
    def is_change(self) -> bool:
        parts = (self.changes, self.tolerations, self.no_tolerations, self.credentials)
        return any(parts) or self.no_credentials

    def check(self, file: str | None) -> None:
        """Raise UsageError for options that do not go together."""
        if file is not None and self.is_change:
            raise click.UsageError("Give --from alone: it is the whole profile.")
        if self.tolerations and self.no_tolerations:
            raise click.UsageError("Give --toleration or --no-tolerations, not both.")
        if self.credentials and self.no_credentials:
            text = "Give --image-credentials or --no-image-credentials, not both."
            raise click.UsageError(text)

    def apply(self, settings: Row) -> Row:
        """Return settings with the changes. Raises BadParameter."""
        for change in self.changes:
            _apply(settings, change)
        if self.tolerations or self.no_tolerations:
            settings["tolerations"] = [parse_toleration(text) for text in self.tolerations]
        if self.no_credentials:
            settings["image_credentials"] = ""
        elif self.credentials:
            config = read_json(self.credentials, "--image-credentials")
            settings["image_credentials"] = json.dumps(config)
        return settings


def read_json(path: str, option: str) -> Row:
    """Return the object of a JSON file; `-` is the standard input. Raises BadParameter."""
    try:
        data = sys.stdin.buffer.read(_MAX_BYTES) if path == "-" else Path(path).read_bytes()
        found = json.loads(data)
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param_hint=option) from error
    except ValueError as error:
        raise click.BadParameter(f"{path} is not JSON", param_hint=option) from error
    if not isinstance(found, dict):
        raise click.BadParameter(f"{path} is no object of JSON", param_hint=option)
    return found


def _settings_of(row: Row) -> Row:
    """Return the part that is sent back: not whether RDMA is on."""
    return {name: value for name, value in row.items() if name not in _SHOWN_ONLY}


def _apply(settings: Row, change: str) -> None:
    key, equals, value = change.partition("=")
    if not equals:
        raise _wrong("--set", f"{change!r} is no KEY=VALUE")
    if key in _TEXTS:
        settings[key] = value
    elif key == "rdma_count":
        if not value.isdecimal():
            raise _wrong("--set", f"{value!r} is no number of devices")
        settings[key] = int(value)
    elif key == "memlock":
        is_unlimited = value in ("", _UNLIMITED)
        settings["memlock_bytes"] = None if is_unlimited else Size().convert(value, None, None)
    elif _SETTING.fullmatch(key):
        others = {name: kept for name, kept in settings["nccl"].items() if name != key}
        settings["nccl"] = others | ({key: value} if value else {})
    else:
        known = ", ".join((*_TEXTS, "rdma_count", "memlock"))
        raise _wrong("--set", f"there is no {key!r}; known are {known} and names in capitals")


def parse_toleration(text: str) -> Row:
    """Return the toleration of a taint as `kubectl taint` writes it. Raises BadParameter."""
    taint, _, effect = text.partition(":")
    key, equals, value = taint.partition("=")
    if equals and not key:
        raise _wrong("--toleration", f"{text!r} has a value and no key")
    operator = "Equal" if equals else "Exists"
    return {"key": key, "operator": operator, "value": value, "effect": effect}


def _wrong(option: str, said: str) -> click.BadParameter:
    return click.BadParameter(said, param_hint=option)


def _print(out: Console, row: Row) -> None:
    limit = row["memlock_bytes"]
    lines = [
        ("priority class", row["priority_class"] or "the cluster's default"),
        ("tolerations", ", ".join(map(_toleration_text, row["tolerations"])) or "none"),
        ("settings", " ".join(f"{name}={value}" for name, value in row["nccl"].items()) or "none"),
    ]
    if row["rdma_resource"]:
        needed = _UNLIMITED if limit is None else f"{limit} bytes"
        lines += [
            ("RDMA devices", f"{row['rdma_count']} × {row['rdma_resource']}"),
            ("needed memlock", needed),
        ]
    if row["image_repository"]:
        how = "with credentials" if row["has_image_credentials"] else "without credentials"
        lines.append(("images of environments", f"{row['image_repository']} ({how})"))
    _print_lines(out, lines)
    if row["rdma"]["detail"]:
        out.print(row["rdma"]["detail"], markup=False)


def _print_lines(out: Console, lines: Iterable[tuple[str, str]]) -> None:
    for label, text in lines:
        out.print(f"{label}: {text}", markup=False)


def _toleration_text(row: Row) -> str:
    value = f"={row['value']}" if row["operator"] == "Equal" else ""
    return f"{row['key'] or '*'}{value}:{row['effect'] or '*'}"
