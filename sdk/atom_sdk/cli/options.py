"""Options that several commands share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from atom_sdk.cli.context import Context

# click is generic for type checkers only: its older releases are not at run time.
if TYPE_CHECKING:
    FloatType = click.ParamType[float]
    IntType = click.ParamType[int]
    StrType = click.ParamType[str]
else:
    FloatType = IntType = StrType = click.ParamType

_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Size(IntType):
    """Bytes, written `2g`, `512M`, `1GiB` or as a plain number."""

    name = "size"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the bytes; a text that is no size of at least one byte is a usage error."""
        if isinstance(value, int):
            return value
        lowered = value.strip().lower().removesuffix("b").removesuffix("i")
        factor = _FACTORS.get(lowered[-1:], 1)
        try:
            size_bytes = float(lowered[:-1] if factor > 1 else lowered) * factor
        except ValueError:
            size_bytes = math.nan
        if not 1 <= size_bytes < math.inf:
            self.fail(f"{value!r} is not a size like 2g or 512m", param, ctx)
        return int(size_bytes)


def not_blank(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty name, which is rather a variable that was not set than "no name"."""
    if value is not None and not value.strip():
        raise click.BadParameter("A name may not be blank; leave it out for none.", param=parameter)
    return value


def accept_json_anywhere(group: click.Group) -> None:
    """Let `--json` stand after the name of any command of the group, too."""
    for command in group.commands.values():
        command.params.append(
            click.Option(
                ["--json"],
                is_flag=True,
                # First, so that a wrong option after it is printed as JSON.
                is_eager=True,
                expose_value=False,
                callback=_choose_json,
                help="Print JSON.",
            )
        )
        if isinstance(command, click.Group):
            accept_json_anywhere(command)


def _choose_json(ctx: click.Context, _: click.Parameter, chosen: bool) -> None:
    if chosen and (context := ctx.find_object(Context)):
        context.as_json = True
