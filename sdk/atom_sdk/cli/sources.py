"""`atom source …`: buckets, folders and lists that a dataset follows in place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import Bars, print_table

_STEP = "list"
# Never options: what is on a command line is in the shell's history and in every `ps`.
_KEY = "ATOM_SOURCE_ACCESS_KEY_ID"
_SECRET = "ATOM_SOURCE_SECRET_ACCESS_KEY"  # a variable's name
_SESSION = "ATOM_SOURCE_SESSION_TOKEN"
_ACCOUNT_KEY = "ATOM_SOURCE_ACCOUNT_KEY"
_SAS = "ATOM_SOURCE_SAS_TOKEN"
_DELEGATION = "ATOM_SOURCE_DELEGATION_TOKEN"


@click.group()
def source() -> None:
    """Register data where it is: nothing is copied, a scan makes a version.

    \b
      atom source add photos s3://bucket/prefix --to pets --endpoint https://s3.example.com
      atom source add scans gs://bucket/prefix --to pets --service-account key.json
      atom source scan photos
    """  # noqa: D301  # click wants the character itself before lines that it keeps apart


@source.command()
@click.argument("name")
@click.argument("url")
@click.option("--to", "dataset", required=True, help="Dataset; made if there is none.")
@click.option("--branch", default="main", show_default=True)
@click.option("--endpoint", default="", help="Address of the service; none: AWS, Google or Azure.")
@click.option("--region", default="")
@click.option("--anonymous", is_flag=True, help="A public place: send no credentials.")
@click.option(
    "--service-account",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file of a Google service account's key.",
)
@click.option("--hdfs-user", default="", help="The user to be at an HDFS without Kerberos.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only paths that fit one of these.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No path that fits one of these.")
@click.option("--labels", "labels_from", type=click.Choice(["folder"]), help="Where labels are.")
@click.option("--every", "every_s", type=click.IntRange(min=300), help="Scan again, in seconds.")
@pass_context
def add(context: Context, /, name: str, url: str, anonymous: bool, **options: Any) -> None:
    """Try the connection to the place URL, and add it as a source called NAME.

    URL is s3://bucket/prefix, gs://bucket/prefix, az://account/container/prefix,
    webhdfs://host:9870/folder, file:///folder (of the server) or the https:// address of a text
    file with one address a line. Secrets are taken from ATOM_SOURCE_ACCESS_KEY_ID and
    ATOM_SOURCE_SECRET_ACCESS_KEY (S3), ATOM_SOURCE_ACCOUNT_KEY or ATOM_SOURCE_SAS_TOKEN (Azure),
    ATOM_SOURCE_DELEGATION_TOKEN (HDFS), or asked for. A place that does not answer is not added.
    """
    options["include"], options["exclude"] = list(options["include"]), list(options["exclude"])
    options["labels_from"] = options["labels_from"] or ""
    given = {name: options.pop(name) for name in ("service_account", "hdfs_user")}
    keys = {} if anonymous else _credentials(url.partition("://")[0], **given)
    place = {"endpoint": options["endpoint"], "region": options["region"], **keys}
    context.client.sources.test(url, **place)
    options |= keys
    added = context.client.sources.add(name, url, options.pop("dataset"), **options)
    context.emit(added, lambda out: out.print(f"{name} is added; now run: atom source scan {name}"))


def _credentials(scheme: str, service_account: Path | None, hdfs_user: str) -> dict[str, str]:
    if scheme == "s3":
        return _keys()
    if scheme == "az":
        return _azure_keys()
    if scheme == "gs":
        if service_account is None:
            raise click.UsageError("Give --service-account FILE, or --anonymous.")
        return {"service_account": service_account.read_text(encoding="utf-8")}
    if scheme in {"webhdfs", "swebhdfs"}:
        token = os.environ.get(_DELEGATION, "")
        return {"delegation_token": token} if token else {"hdfs_user": hdfs_user}
    return {}


def _azure_keys() -> dict[str, str]:
    if token := os.environ.get(_SAS):
        return {"sas_token": token}
    key = os.environ.get(_ACCOUNT_KEY) or click.prompt(
        "Key of the storage account", hide_input=True, err=True
    )
    return {"account_key": key}


def _keys() -> dict[str, str]:
    key = os.environ.get(_KEY) or click.prompt("Access key id", err=True)
    secret = os.environ.get(_SECRET) or click.prompt("Secret key", hide_input=True, err=True)
    return {
        "access_key_id": key,
        "secret_access_key": secret,
        "session_token": os.environ.get(_SESSION, ""),
    }


@source.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the sources with what their last scan found."""
    rows = list(context.client.sources.list())
    cells = [
        (
            r["name"],
            r["state"],
            r["url"],
            f"{r['dataset']}@{r['branch']}",
            (r["last_scan"] or {}).get("version") or "–",
            (r["last_scan"] or {}).get("objects_count", "–"),
            f"{r['every_s']} s" if r["every_s"] else "when asked",
        )
        for r in rows
    ]
    columns = ("name", "state", "address", "dataset", "version", "objects", "scanned every")
    context.emit(rows, lambda out: _print_list(out, columns, cells, rows))


def _print_list(
    out: Console, columns: tuple[str, ...], cells: list[Any], rows: list[dict[str, Any]]
) -> None:
    print_table(out, columns, cells)
    for row in rows:
        if row["error_detail"]:
            out.print(f"{row['name']}: {row['error_detail']}", markup=False)


@source.command()
@click.argument("name")
@click.option("--no-wait", is_flag=True, help="Return at once.")
@pass_context
def scan(context: Context, name: str, no_wait: bool) -> None:
    """Look at what changed in NAME and make a version of it.

    A scan that failed within the last hour goes on where it stopped.
    """
    sources = context.client.sources
    if no_wait:
        begun = sources.start_scan(name)
        context.emit(begun, lambda out: out.print("The scan has begun."))
        return
    with Bars(context.err, enabled=not context.as_json) as bars:
        bars.start(_STEP, 0, "objects")
        seen = 0

        def report(scan: dict[str, Any]) -> None:
            nonlocal seen
            bars.advance(_STEP, scan["objects_count"] - seen)
            seen = scan["objects_count"]

        done = sources.scan(name, report)
    context.emit(done, lambda out: out.print(_sentence(done), markup=False))


def _sentence(scan: dict[str, Any]) -> str:
    seen = f"{counted(scan['objects_count'], 'object')}, {size_text(scan['size_bytes'])}"
    skipped = f", {scan['skipped']} with names that no dataset can have" if scan["skipped"] else ""
    if scan["unchanged"]:
        return f"Nothing changed since {scan['version']} ({seen}{skipped})."
    return f"{scan['version']}: {seen}{skipped}."


@source.command(name="rm")
@click.argument("name")
@pass_context
def remove(context: Context, name: str) -> None:
    """Forget NAME and its credentials; versions and objects stay where they are."""
    context.client.sources.remove(name)
    context.emit({"removed": name}, lambda out: out.print(f"{name} is removed."))
