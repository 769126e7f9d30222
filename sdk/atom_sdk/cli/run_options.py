"""The options of a run on the command line, and the request that they make."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TextIO

import click

from atom_sdk.cli.options import Size, not_blank
from atom_sdk.cli.start_option import start_of, with_start
from atom_sdk.manifests.query import QueryError, parse_query

DELIVERIES = ("packs", "mount", "stream")
LAUNCHERS = ("plain", "torchrun", "tensorflow", "hostfile")


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """Return values by name of `NAME=VALUE`. Raises click.BadParameter."""
    found = {}
    for text in values:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.BadParameter(f"{text!r}: write NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def parameters_of(values: tuple[str, ...]) -> dict[str, Any]:
    """Return parameters by name of `NAME=VALUE`. Raises click.BadParameter."""
    return {name: _typed(text) for name, text in pairs(values, "-p").items()}


def _typed(text: str) -> Any:
    """Read numbers and booleans as JSON does; everything else is a string."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        return text


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _inputs(values: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the references and the deliveries of `digits=digits@v3:mount`, by alias."""
    references = pairs(values, "--data")
    deliveries = {}
    for alias, text in references.items():
        reference, colon, how = text.rpartition(":")
        # `atom://project/dataset` has a colon of its own.
        if not colon or "/" in how:
            continue
        if how not in DELIVERIES:
            known = ", ".join(DELIVERIES)
            said = f"{text!r}: after the colon comes one of {known}"
            raise click.BadParameter(said, param_hint="--data")
        references[alias], deliveries[alias] = reference, how
    return references, deliveries


def with_nodes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run on several nodes."""
    options = (
        click.option(
            "--nodes",
            type=click.IntRange(1, 256),
            help="How many nodes of a cluster run it together, each with these resources.",
        ),
        click.option(
            "--launcher",
            type=click.Choice(LAUNCHERS),
            help="How several nodes start it: each by itself (plain), a process for each GPU "
            "(torchrun), with TF_CONFIG (tensorflow) or with a file of all hosts (hostfile).",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def with_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every kind of run has; `settings_of` reads them."""
    options = (
        click.option("--name", callback=not_blank, help="A name to find the run by."),
        click.option("--cpus", type=click.IntRange(1)),
        click.option("--memory", type=Size(), help="For instance 2g."),
        click.option("--gpus", type=click.IntRange(0)),
        click.option(
            "--accelerator",
            metavar="KIND",
            help="The kind of the GPUs: atom cluster choices. Else any.",
        ),
        click.option(
            "--cluster",
            metavar="NAME",
            help="A registered cluster: atom cluster choices; auto: Atom chooses. Else Atom's own "
            "machines.",
        ),
        click.option("--image", metavar="REF", help="The image that the cluster starts."),
        click.option("--env", multiple=True, metavar="K=V", help="An environment variable."),
        click.option(
            "--secret",
            multiple=True,
            metavar="NAME",
            help="A secret of the project, as a variable: atom secret ls.",
        ),
        click.option("--tag", multiple=True),
        click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Seconds."),
        click.option(
            "--retries",
            "max_retries",
            type=click.IntRange(0),
            help="How often it is tried again by itself, after a failure that is not the code's.",
        ),
    )
    command = with_nodes(with_start(command))
    for option in reversed(options):
        command = option(command)
    return command


def with_awaiting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of what starts a run; `started` reads them."""
    options = (
        click.option("--follow", is_flag=True, help="Show the log; exit like the run."),
        click.option("--wait", "wait", is_flag=True, help="Wait silently; exit like the run."),
        click.option(
            "--wait-timeout",
            "wait_s",
            type=click.IntRange(0),
            metavar="SECONDS",
            help="With --wait: give up after so long, with exit code 124; the run goes on.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def resources_of(options: Mapping[str, Any]) -> dict[str, int]:
    """Return what `--cpus`, `--memory` and `--gpus` name."""
    resources = {
        "cpus": options["cpus"],
        "memory_bytes": options["memory"],
        "gpus": options["gpus"],
    }
    return {name: value for name, value in resources.items() if value is not None}


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the request that `with_settings` asks for."""
    names = (
        *("name", "timeout_s", "max_retries", "cluster", "image", "accelerator"),
        *("nodes", "launcher"),
    )
    given = {name: options[name] for name in names}
    return {
        "env": pairs(options["env"], "--env"),
        **({"secrets": list(options["secret"])} if options["secret"] else {}),
        "tags": list(options["tag"]),
        "resources": resources_of(options),
        **{name: value for name, value in given.items() if value is not None},
        **start_of(options),
    }


def request_of(command: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked of the server, but for the code. Raises click.BadParameter."""
    datasets, deliveries = _inputs(options["data"])
    requirements = [*_lines_of(options["requirements_file"]), *options["req"]]
    body: dict[str, Any] = {
        "command": list(command),
        "parameters": parameters_of(options["parameters"]),
        "requirements": "\n".join(requirements),
        "datasets": datasets,
        "deliveries": deliveries,
        "selectors": selectors(options["where"]),
        **settings_of(options),
    }
    if options["may_write"]:
        body["may_write"] = True
    return body


def selectors(where: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Check the queries here: a wrong one would be refused only after the code was sent."""
    found = pairs(where, "--where")
    for text in found.values():
        try:
            parse_query(text)
        except QueryError as error:
            raise click.BadParameter(str(error), param_hint="--where") from error
    return {alias: {"where": text} for alias, text in found.items()}


def _lines_of(file: TextIO | None) -> list[str]:
    try:
        return file.read().splitlines() if file else []
    except UnicodeDecodeError as exc:
        raise click.BadParameter("the file is not text in UTF-8", param_hint="-r") from exc


def check_awaiting(options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other. Raises click.UsageError."""
    if options["follow"] and options["wait"]:
        raise click.UsageError("Give --follow or --wait, not both.")
    if options["wait_s"] is not None and not options["wait"]:
        raise click.UsageError("--wait-timeout needs --wait.")
