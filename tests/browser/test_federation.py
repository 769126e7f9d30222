"""A walk of a person who lets Atom choose between a cold and a warm cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.browser.clusters import GPU, agent_on, cluster_of, warm
from tests.browser.seed import draw_shapes
from tests.browser.signing_in import sign_in
from tests.people import administrator, token_of
from tests.stack import Stack

# A stack of its own with a watcher takes longer than `make test` has.
pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(600)]

DATASET, COLD, WARM = "shapes", "north", "south"
RUN_MS = 120_000
COMMAND = "echo trained"
# The cold cluster would fetch the pack for half a minute and pay for it.
RATE, FEE = 5_000, "2000"
WORDS = {
    "en": {
        "own": "Your own command",
        "command": "Command",
        "next": "Continue",
        "go": "Start run",
        "add": "Add a dataset",
        "dataset": "Dataset: dataset",
        "gpus": "GPUs",
        "image": "Image",
        "auto": rf"Atom chooses now {WARM}",
        "better": rf"[\d.]+ EUR cheaper, \S+s sooner than {COLD}",
        "worse": rf"[\d.]+ EUR dearer, \S+s later than {WARM}",
        "done": "Succeeded",
        "config": "Configuration",
        "chosen": f"Atom chose {WARM}",
        "start": "Until the start",
    },
    "zh": {
        "own": "自定义命令",
        "command": "命令",
        "next": "继续",
        "go": "启动运行",
        "add": "添加数据集",
        "dataset": "数据集：数据集",
        "gpus": "GPU 数",
        "image": "镜像",
        "auto": rf"由 Atom 选择\s*目前是 {WARM}",
        "better": rf"比 {COLD} 便宜 [\d.]+ EUR.*早 \S+秒",
        "worse": rf"比 {WARM} 贵 [\d.]+ EUR.*晚 \S+秒",
        "done": "成功",
        "config": "配置",
        "chosen": f"Atom 选择了 {WARM}",
        "start": "到开始为止",
    },
}


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with a dataset, a cluster without it, and a cluster that has all of it."""
    with ExitStack() as running:
        stack = Stack.create()
        running.callback(stack.remove)
        stack.external = {"ATOM_WATCH_CLUSTERS": "1", "ATOM_CLUSTER_NETWORKS": "127.0.0.0/8"}
        stack.external |= {"ATOM_AGENT_IMAGE": "atom-agent", "ATOM_HOUR_VALUES": "0=30"}
        stack.start()
        running.callback(stack.stop)
        secret = token_of(stack, administrator(stack), "walk", "admin")
        root = running.enter_context(Client(stack.base_url, secret, "demo"))
        _push(root, tmp_path_factory.mktemp("shapes"))
        prices = [{"kind": GPU, "per_hour": "2", "currency": "EUR"}]
        routes = [
            {
                **{"store": "atom", "bandwidth_bytes_per_s": RATE},
                **{"egress_per_gib": FEE, "currency": "EUR"},
            }
        ]
        clusters = {
            name: running.enter_context(
                cluster_of(root, name, {f"{name}-1": 4}, kubelet=True, prices=prices, stores=routes)
            )
            for name in (COLD, WARM)
        }
        folder = tmp_path_factory.mktemp("agents")
        running.enter_context(agent_on(stack, root, clusters[WARM], WARM, f"{WARM}-1", folder))
        warm(root, DATASET, "v1", WARM, copies=1, pinned=True)
        yield stack


def _push(root: Client, folder: Path) -> None:
    draw_shapes(folder, 60)
    root.datasets.push(folder, DATASET, PushOptions("first sixty"))


@pytest.fixture
def page(browser: Browser, federation: Stack) -> Iterator[Page]:
    """A page of the administrator of this stack."""
    context = browser.new_context(
        base_url=federation.base_url,
        viewport={"width": 1440, "height": 900},
        locale="en-GB",
        reduced_motion="reduce",
    )
    shown = context.new_page()
    sign_in(shown, federation, administrator(federation))
    yield shown
    context.close()


@pytest.mark.parametrize("language", list(WORDS))
def test_atom_chooses_the_warm_cluster_and_the_run_says_why(page: Page, language: str) -> None:
    say = WORDS[language]
    page.add_init_script(f"localStorage.setItem('atom-language', {language!r})")
    page.goto("/runs/new")
    page.get_by_role("radio", name=say["own"]).click()
    page.get_by_role("textbox", name=say["command"], exact=True).fill(COMMAND)
    page.get_by_role("button", name=say["add"]).click()
    page.get_by_role("combobox", name=say["dataset"]).click()
    page.get_by_role("option", name=DATASET).first.click()
    page.get_by_role("button", name=say["next"]).click()

    page.get_by_role("textbox", name=say["gpus"], exact=True).fill("1")
    auto = page.get_by_role("radio", name=re.compile(say["auto"]))
    expect(auto).to_be_checked()
    expect(page.locator("[data-place]", has_text=re.compile(say["better"]))).to_contain_text(WARM)
    expect(page.locator("[data-place]", has_text=re.compile(say["worse"]))).to_contain_text(COLD)
    page.get_by_role("textbox", name=say["image"], exact=True).fill("registry.example/team/train:1")
    page.get_by_role("button", name=say["next"]).click()
    page.get_by_role("button", name=say["go"], exact=True).click()

    done = page.locator("main").get_by_text(say["done"], exact=True).first
    expect(done).to_be_visible(timeout=RUN_MS)
    page.get_by_role("tab", name=say["config"]).click()
    expect(page.get_by_text(say["chosen"], exact=True)).to_be_visible()
    row = page.get_by_role("row", name=re.compile(say["start"]))
    assumed, came = row.get_by_role("cell").all_inner_texts()[1:]
    assert re.search(r"\d", assumed), assumed
    assert re.search(r"\d", came), came
    # The places as they were compared, with the same words as in the wizard.
    compared = page.get_by_role("row", name=re.compile(say["worse"]))
    expect(compared).to_contain_text(COLD)
