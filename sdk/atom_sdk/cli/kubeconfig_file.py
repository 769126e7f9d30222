"""The kubeconfig that a command is given; no message repeats any of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_MAX_BYTES = 1 << 20


def read_kubeconfig(path: str) -> str:
    """Return the text of a file; `-` is the standard input. Raises BadParameter."""
    try:
        data = _read(path)
    except OSError as error:
        raise _refused(f"{path}: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise _refused(f"{path} has more than 1 MiB, so it is no kubeconfig")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # The error would hold the bytes.
        raise _refused(f"{path} is not text in UTF-8") from None
    if "\0" in text:
        raise _refused(f"{path} is not text in UTF-8")
    if not text.strip():
        raise _refused(f"{path} is empty")
    return text


def _read(path: str) -> bytes:
    # One byte more than allowed: a device may never end.
    if path == "-":
        return sys.stdin.buffer.read(_MAX_BYTES + 1)
    with Path(path).open("rb") as file:
        return file.read(_MAX_BYTES + 1)


def _refused(said: str) -> click.BadParameter:
    return click.BadParameter(said, param_hint="--kubeconfig")
