"""`atom cluster …`: clusters of Kubernetes that runs can use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.cluster_caches import cache, coverage
from atom_sdk.cli.cluster_edits import edit
from atom_sdk.cli.cluster_pods import try_pod
from atom_sdk.cli.cluster_printing import (
    failed,
    missing_rights,
    print_choices,
    print_cluster,
    print_clusters,
    print_findings,
    state_text,
)
from atom_sdk.cli.cluster_profiles import profile
from atom_sdk.cli.cluster_queues import queues
from atom_sdk.cli.cluster_quotas import quotas
from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.kubeconfig_file import read_kubeconfig
from atom_sdk.cli.options import Size

_YAML = click.option(
    "--yaml", "as_yaml", is_flag=True, help="Print only the YAML that grants missing rights."
)


@click.group()
def cluster() -> None:
    """List, check and register clusters (docs/clusters.md)."""


cluster.add_command(cache)
cluster.add_command(coverage)
cluster.add_command(edit)
cluster.add_command(profile)
cluster.add_command(quotas)
cluster.add_command(queues)


def _connecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to reach a cluster."""
    for option in (
        click.option("--in-cluster", is_flag=True, help="Use the account of the server's own pod."),
        click.option("--namespace", help="The namespace of Atom's jobs; else the context's."),
        click.option("--context", "kube_context", help="A context of the file; else its current."),
        click.option(
            "--kubeconfig",
            metavar="FILE",
            help="By kubectl config view --minify --flatten --raw; - is the standard input.",
        ),
    ):
        command = option(command)
    return command


def _credentials(
    kubeconfig: str | None, kube_context: str | None, namespace: str | None, in_cluster: bool
) -> dict[str, Any]:
    if (kubeconfig is None) is not in_cluster:
        raise click.UsageError("Give one of --kubeconfig and --in-cluster.")
    if in_cluster and kube_context is not None:
        raise click.UsageError("--context is one of a --kubeconfig.")
    given: dict[str, Any] = {"context": kube_context, "namespace": namespace}
    found = {key: value for key, value in given.items() if value is not None}
    if kubeconfig is None:
        return {"in_cluster": True, **found}
    return {"kubeconfig": read_kubeconfig(kubeconfig), **found}


@cluster.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the clusters that your projects may use."""
    rows = context.client.clusters.list()
    context.emit(rows, lambda out: print_clusters(out, rows))


@cluster.command()
@click.option("--cpus", type=click.IntRange(1))
@click.option("--memory", type=Size(), help="For instance 2g.")
@click.option("--gpus", type=click.IntRange(0))
@click.option("--accelerator", metavar="KIND", help="The kind of the GPUs; else any.")
@click.option("--nodes", type=click.IntRange(1, 256), help="How many nodes have these each.")
@pass_context
def choices(
    context: Context,
    cpus: int | None,
    memory: int | None,
    gpus: int | None,
    accelerator: str | None,
    nodes: int | None,
) -> None:
    """List where a run of the project could go, and when there is room for it."""
    asked: dict[str, int | str | None] = {
        "cpus": cpus,
        "memory_bytes": memory,
        "gpus": gpus,
        "accelerator": accelerator,
        "nodes": nodes,
    }
    resources = {name: value for name, value in asked.items() if value is not None}
    rows = context.client.runs.cluster_choices(**resources)
    context.emit(rows, lambda out: print_choices(out, rows))


@cluster.command()
@click.argument("name")
@_YAML
@pass_context
def show(context: Context, name: str, as_yaml: bool) -> None:
    """Show a cluster: its nodes by accelerators; to administrators what the last check found."""
    _refuse_two_formats(context, as_yaml)
    row = context.client.clusters.get(name)
    if as_yaml:
        _print_yaml(context, name, row["findings"])
    else:
        # Findings and unknown Jobs are for administrators alone.
        if row["server"] and row["findings"] is not None:
            row["unknown_jobs"] = context.client.clusters.unknown_jobs(name)
        context.emit(row, lambda out: print_cluster(out, row))


@cluster.command()
@_connecting
@_YAML
@pass_context
def test(context: Context, /, as_yaml: bool, **options: Any) -> int:
    """Check a cluster and keep nothing; exit code 1 if a check fails."""
    _refuse_two_formats(context, as_yaml)
    found = context.client.clusters.dry_run(**_credentials(**options))
    if as_yaml:
        _print_yaml(context, found["server"], found["findings"])
    else:
        context.emit(found, lambda out: _print_test(out, found))
    return 0 if found["passed"] else EXIT_FAILED


def _print_test(out: Console, found: dict[str, Any]) -> None:
    said = "no check failed" if found["passed"] else "a check failed"
    out.print(f"{found['server']}: {said}", markup=False)
    print_findings(out, found["findings"])


@cluster.command()
@click.argument("name")
@_connecting
@click.option("--project", "projects", multiple=True, help="May use it; without this, all may.")
@pass_context
def register(context: Context, /, name: str, projects: tuple[str, ...], **options: Any) -> None:
    """Register a cluster as NAME; if a check fails, it takes no runs until one passes."""
    body = _credentials(**options)
    if projects:
        body["projects"] = list(projects)
    _print_checked(context, context.client.clusters.register(name, **body))


@cluster.command()
@click.argument("name")
@click.option("--pod", "with_pod", is_flag=True, help="Start a pod there that tries to reach Atom.")
@pass_context
def check(context: Context, name: str, with_pod: bool) -> int:
    """Ask a cluster again; exit code 1 if it does not answer or a check fails."""
    row = context.client.clusters.check(name)
    if with_pod and not row["problem"]:
        row = try_pod(context, name)
    _print_checked(context, row)
    return EXIT_FAILED if row["problem"] or failed(row["findings"]) else 0


@cluster.command()
@click.argument("name")
@click.option("--volumes", is_flag=True, help="With the driver of volumes, which is privileged.")
@pass_context
def agent(context: Context, name: str, volumes: bool) -> None:
    """Print the YAML that installs the node agent in a cluster (docs/warm-up.md)."""
    text = context.client.clusters.agent_manifest(name, volumes)
    context.emit({"yaml": text}, lambda out: click.echo(text, nl=False))


@cluster.command()
@click.argument("name")
@pass_context
def drain(context: Context, name: str) -> None:
    """Keep new runs off a cluster; runs that are there go on."""
    row = context.client.clusters.drain(name)
    said = f"{row['name']} takes no new runs"
    context.emit(row, lambda out: out.print(said, markup=False))


@cluster.command()
@click.argument("name")
@pass_context
def resume(context: Context, name: str) -> None:
    """Let a cluster take runs again, once a check passes."""
    _print_checked(context, context.client.clusters.resume(name))


@cluster.command()
@click.argument("name")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask, as in a script.")
@pass_context
def rm(context: Context, name: str, is_sure: bool) -> None:
    """Forget a cluster and its kubeconfig; refused while runs are there."""
    typed = name if is_sure else click.prompt(f"Type {name} to remove it", err=True)
    if typed != name:
        raise click.UsageError("The name does not match: nothing was removed.")
    context.client.clusters.remove(name)
    context.emit({"removed": name}, lambda out: out.print(f"removed {name}", markup=False))


def _print_checked(context: Context, row: dict[str, Any]) -> None:
    context.emit(row, lambda out: _print_state(out, row))


def _print_state(out: Console, row: dict[str, Any]) -> None:
    out.print(state_text(row), markup=False)
    if row["problem"]:
        out.print(row["problem"]["detail"], markup=False)
    print_findings(out, row["findings"])


def _refuse_two_formats(context: Context, as_yaml: bool) -> None:
    if as_yaml and context.as_json:
        raise click.UsageError("Give --yaml or --json, not both.")


def _print_yaml(context: Context, name: str, findings: list[dict[str, Any]] | None) -> None:
    granting = missing_rights(name, findings)
    if granting:
        # As it is: a terminal's width must not fold what kubectl reads.
        click.echo(granting, nl=False)
    else:
        context.err.print("No right is missing.")
