"""`atom stores …` by the real API and a real bucket."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from django.conf import settings as django_settings

from atom.accounts.actions import create_token
from atom.datasets.models import Store
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from tests.datasets.buckets import Bucket, Moody, refusal
from tests.factories.accounts import make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)

Run = Callable[..., Result]


@pytest.fixture
def run(live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command as an administrator of the installation, with the test store's keys."""
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ATOM_STORE_ACCESS_KEY_ID", django_settings.S3_ACCESS_KEY_ID)
    monkeypatch.setenv("ATOM_STORE_SECRET_ACCESS_KEY", django_settings.S3_SECRET_ACCESS_KEY)
    make_project("vision")
    secret = create_token(make_user(is_superuser=True), "cli", ["admin"]).secret

    def run(*words: str, typed: str | None = None) -> Result:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["stores", *words], obj=context, input=typed, standalone_mode=False
            )
        assert django_settings.S3_SECRET_ACCESS_KEY not in done.output
        if done.exception is not None:
            raise done.exception
        return done

    return run


def added(run: Run, *options: str) -> Bucket:
    bucket = Bucket()
    run("add", "frankfurt", bucket.endpoint, bucket.name, *options)
    return bucket


def test_a_store_is_added_listed_and_removed(run: Run) -> None:
    bucket = added(run, "--prefix", "atom/data", "--egress", "0.09", "--currency", "EUR")
    store = Store.objects.get()
    assert (store.name, store.bucket, store.prefix) == ("frankfurt", bucket.name, "atom/data/")
    shown = run("list").stdout
    assert "frankfurt" in shown
    assert "0.09 EUR" in shown
    assert "unknown" in shown
    with pytest.raises(click.UsageError, match="does not match"):
        run("remove", "frankfurt", typed="berlin\n")
    assert "removed frankfurt" in run("remove", "frankfurt", typed="frankfurt\n").stdout
    assert json.loads(run("list", "--json").stdout) == []


def test_fees_are_shown_changed_and_made_unknown(run: Run) -> None:
    added(run)
    assert run("fees", "frankfurt").stdout.count("unknown") == 3
    shown = run("fees", "frankfurt", "--write", "10", "--keep", "0.0215", "--currency", "USD")
    assert "10 USD" in shown.stdout
    assert "0.0215 USD" in shown.stdout
    row = json.loads(run("fees", "frankfurt", "--write", "unknown", "--json").stdout)
    assert (row["write_per_gib"], row["keep_per_gib_month"]) == (None, "0.021500")


@pytest.mark.parametrize("fee", ["-1", "0.0000001", "cheap", "nan", "Infinity"])
def test_wrong_fees_are_refused_before_anything_is_sent(run: Run, fee: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a price"):
        run("fees", "frankfurt", f"--egress={fee}")


def test_a_failed_check_says_why_and_new_keys_are_checked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = Bucket()
    server = Moody(bucket.endpoint)
    try:
        run("add", "frankfurt", server.url, bucket.name)
        assert run("check", "frankfurt").return_value == 0
        server.mood = lambda path: refusal(403, "AccessDenied")
        failed = run("check", "frankfurt")
        assert failed.return_value == 1
        assert failed.stdout.startswith("frankfurt: ")
        assert "failed" in run("list").stdout
        server.mood = lambda path: None
        assert "passed" in run("keys", "frankfurt").stdout
        monkeypatch.setenv("ATOM_STORE_SECRET_ACCESS_KEY", "nothing")
        with pytest.raises(ApiError) as refused:
            run("keys", "frankfurt")
        assert refused.value.code == "store_denied"
    finally:
        server.close()


def test_keys_are_asked_for_without_variables(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ATOM_STORE_ACCESS_KEY_ID", "ATOM_STORE_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    bucket = Bucket()
    typed = f"{django_settings.S3_ACCESS_KEY_ID}\n{django_settings.S3_SECRET_ACCESS_KEY}\n"
    run("add", "frankfurt", bucket.endpoint, bucket.name, typed=typed)
    assert Store.objects.get().name == "frankfurt"
