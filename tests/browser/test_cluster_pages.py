"""Pages of placement, warm-up and replicas, with a cluster, an agent and a second store."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from atom.dev.seaweed import make_client
from atom_sdk.client import Client
from tests.browser.clusters import GPU, agent_on, cluster_of, warm
from tests.browser.page_checks import (
    COLORS_STAND,
    beyond_the_window,
    keep_picture,
    problems_at,
    violations_in_themes,
)
from tests.browser.seed import DATASET, Seed, wait_for
from tests.browser.visiting import await_true, prefer_language
from tests.browser.watching import watch
from tests.people import administrator, token_of
from tests.stack import Stack

CLUSTER, STORE = "east", "frankfurt"
PAGES = {
    "where": f"/runs/new?workflow=image-classification&dataset={DATASET}@v1&step=2",
    "version's cache": f"/datasets/{DATASET}/warm-up?ref=v1",
    "plans": "/warm-plans",
    "cluster": f"/settings/clusters/{CLUSTER}",
    "stores": "/settings/stores",
}
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def root(stack: Stack) -> Iterator[Client]:
    """A client that may register clusters and stores."""
    secret = token_of(stack, administrator(stack), "clusters", "admin")
    with Client(stack.base_url, secret, "demo") as client:
        yield client


@pytest.fixture(scope="module")
def places(
    stack: Stack, seed: Seed, root: Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Seed]:
    """A cluster with a price whose one agent has the seed's version, and a replica of it."""
    prices = [{"kind": GPU, "per_hour": "2.5", "currency": "EUR"}]
    routes = [{"store": "atom", "bandwidth_bytes_per_s": 10_000_000, "currency": "EUR"}]
    folder = tmp_path_factory.mktemp("agents")
    _add_store(stack, root)
    nodes = {"gpu-1": 4, "a-node-with-a-name-that-is-long-1": 4}
    with (
        cluster_of(root, CLUSTER, nodes, prices=prices, stores=routes) as stand_in,
        agent_on(stack, root, stand_in, CLUSTER, "gpu-1", folder),
    ):
        warm(root, DATASET, "v1", CLUSTER, nodes=["gpu-1"], pinned=True)
        schedules, base = root.datasets.warm_schedules, f"projects/demo/datasets/{DATASET}/"
        made = schedules.create(base, "main", CLUSTER, "0 3 * * *", keep_s=86_400)
        yield seed
        schedules.delete(made["id"])


def _add_store(stack: Stack, root: Client) -> None:
    names = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
    endpoint, key, secret = map(stack.setting, names)
    make_client(endpoint, key, secret).create_bucket(Bucket="second")
    body = {
        **{"name": STORE, "endpoint": endpoint, "bucket": "second", "access_key_id": key},
        **{"secret_access_key": secret, "egress_per_gib": "0.09", "currency": "EUR"},
    }
    root.http.post("stores/", body)
    version = f"{DATASET}@v1"
    root.datasets.replicas.start(version, STORE, pinned=True)
    wait_for(lambda: root.datasets.replicas.get(version, STORE)["state"] == "there")


def _on_a_phone(page: Page) -> None:
    """Make the window small, and wait until the navigation has slid away."""
    page.set_viewport_size(PHONE)
    await_true(page, COLORS_STAND)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_with_a_cluster_are_accessible_fit_a_phone_and_show_no_keys(
    signed_in_page: Page, places: Seed, language: str
) -> None:
    page = signed_in_page
    prefer_language(page, language)
    page.goto("/settings/tokens")
    watched, problems = watch(page), list[str]()
    for name, address in PAGES.items():
        problems += [f"{name}: {said}" for said in problems_at(page, watched, address, language)]
        expect(page.get_by_text(STORE if name == "stores" else CLUSTER).first).to_be_visible()
        problems += violations_in_themes(page, name, language)
        _on_a_phone(page)
        problems += [f"{name} beyond the window: {said}" for said in beyond_the_window(page)]
        keep_picture(page, f"{name}-phone-{language}")
        page.set_viewport_size(DESK)
    assert not problems, "\n".join(problems)
    assert places.trained_run


@pytest.mark.parametrize(
    ("language", "menu", "there"), [("en", "Replicas", "There"), ("zh", "副本", "已就位")]
)
def test_the_replicas_of_a_version_are_accessible(
    signed_in_page: Page, places: Seed, language: str, menu: str, there: str
) -> None:
    page = signed_in_page
    prefer_language(page, language)
    page.goto(f"/datasets/{DATASET}?ref=v1")
    page.get_by_role("button", name=re.compile("^(More|更多)$")).first.click()
    page.get_by_role("menuitem", name=re.compile(menu)).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(STORE).first).to_be_visible()
    expect(dialog.get_by_text(there).first).to_be_visible()
    assert violations_in_themes(page, "replicas", language) == []
    _on_a_phone(page)
    assert beyond_the_window(page) == []
    keep_picture(page, f"replicas-phone-{language}")
    page.set_viewport_size(DESK)
    assert places.trained_run


def test_the_limit_of_the_caches_is_set_on_the_page_of_the_cluster(
    signed_in_page: Page, places: Seed, root: Client
) -> None:
    page = signed_in_page
    page.goto(f"/settings/clusters/{CLUSTER}")
    caches = page.get_by_role("region", name="Caches of the nodes")
    expect(caches.get_by_text("as large as the disk allows")).to_be_visible()
    caches.get_by_role("button", name="Edit the caches").click()
    dialog = page.get_by_role("dialog")
    limit = dialog.get_by_role("textbox", name="Limit of each node, GiB")
    limit.fill("none")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text(re.compile("Use a number above 0"))).to_be_visible()
    limit.fill("2")
    dialog.get_by_role("button", name="Save").click()
    expect(caches.get_by_text("2 GiB", exact=True)).to_be_visible()
    assert root.clusters.cache(CLUSTER)["limit_bytes"] == 2 << 30
    assert places.trained_run
