"""The options that choose files of a version, for every command that takes a part of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click


def selection(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets what was given as `selector`."""

    @click.option("--where", metavar="QUERY", help="As after SQL's WHERE: \"label = 'cat'\".")
    @click.option("--view", metavar="NAME", help="Only the files of this saved view.")
    @click.option("--split", multiple=True, metavar="NAME", help="Only this split; repeatable.")
    @click.option("--prefix", metavar="FOLDER/", help="Only paths that begin with this.")
    @click.option("--labelled", is_flag=True, help="Only files with a label.")
    @wraps(command)
    def chosen(
        *args: Any,
        where: str | None,
        view: str | None,
        split: tuple[str, ...],
        prefix: str | None,
        labelled: bool,
        **kwargs: Any,
    ) -> Any:
        given = {"where": where, "view": view, "split": list(split), "prefix": prefix}
        selector = {name: value for name, value in {**given, "labelled": labelled}.items() if value}
        return command(*args, selector=selector, **kwargs)

    return chosen
