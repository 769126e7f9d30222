"""The options that say how files are split, for every command that splits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from atom_sdk.errors import SplitSpecError
from atom_sdk.manifests.splits.requests import HELD_OUT, SplitRequest


def splitting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --split and how it is drawn; the command gets all of it as `split`."""

    @click.option(
        "--split",
        "sizes",
        multiple=True,
        metavar="NAME=SIZE",
        help="Hold out samples: test=1000, or a part of them: test=20%.",
    )
    @click.option("--seed", default=7, show_default=True, help="Seed of the split.")
    @click.option(
        "--stratify/--no-stratify",
        default=True,
        show_default=True,
        help="Give every label the same share in every split.",
    )
    @click.option(
        "--group-by",
        default="",
        metavar="folder|attributes.NAME",
        help="Keep the files of one folder, or of one value, in one split.",
    )
    @click.option("--where", default="", metavar="QUERY", help="Split only files that match this.")
    @click.option("--view", default="", metavar="NAME", help="Split only files of this saved view.")
    @click.option("--redraw", is_flag=True, help="Draw files that have a split again.")
    @wraps(command)
    def split_by(
        *args: Any,
        sizes: tuple[str, ...],
        seed: int,
        stratify: bool,
        group_by: str,
        where: str,
        view: str,
        redraw: bool,
        **kwargs: Any,
    ) -> Any:
        how = {"seed": seed, "stratify": stratify, "group_by": group_by, "redraw": redraw}
        how |= {name: text for name, text in (("where", where), ("view", view)) if text}
        return command(*args, split=_spec(sizes, how), **kwargs)

    return split_by


def _spec(sizes: tuple[str, ...], how: dict[str, Any]) -> dict[str, Any] | None:
    if not sizes:
        if any(how.get(name) for name in ("group_by", "redraw", "where", "view")):
            raise click.BadParameter("say how much, such as test=20%", param_hint="--split")
        return None
    spec = dict(how)
    for text in sizes:
        name, _, size = text.partition("=")
        if name not in HELD_OUT or not size:
            raise click.BadParameter(f"{text!r}: write test=N or val=N%", param_hint="--split")
        if name in spec:
            raise click.BadParameter(f"{name} is given twice", param_hint="--split")
        spec[name] = int(size) if size.isascii() and size.isdigit() else size
    try:
        SplitRequest.from_json(spec)
    except SplitSpecError as error:
        raise click.BadParameter(str(error), param_hint="--split") from error
    return spec
