"""Two people at one labeling task: a killed browser, a page that is left, one's own audits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.browser.seed import draw_shapes, open_task
from tests.browser.signing_in import sign_in
from tests.people import Person, add_people
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
BATCH, IMAGES = 8, 20
MINUTE_S = 61

OpenBrowser = Callable[[Person], Page]


@pytest.fixture(scope="module")
def people(stack: Stack) -> list[Person]:
    """Two researchers, who may label and audit."""
    return add_people(stack, {"rosa": "researcher", "ben": "researcher"}, {})


@pytest.fixture
def open_browser(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack, page: Page
) -> Iterator[OpenBrowser]:
    """Return a function that opens a browser of a person; `page` skips these without one."""
    contexts: list[BrowserContext] = []

    def opened(person: Person) -> Page:
        context = browser.new_context(**browser_context_args)
        contexts.append(context)
        one = context.new_page()
        sign_in(one, stack, person)
        return one

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def task(atom: Client, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A task over twenty images; every label is audited."""
    name = f"two-{abs(hash(request.node.name)) % 10_000}"
    draw_shapes(tmp_path, 3 * IMAGES)
    atom.datasets.push(tmp_path, name, PushOptions("", "folder", ("unlabelled",)))
    return open_task(atom, name, f"{name}@v1")


def tiles(page: Page) -> Any:
    return page.get_by_role("option")


def label_batch(page: Page, count: int) -> None:
    """Give each image of the batch a class and submit it."""
    expect(tiles(page)).to_have_count(count)
    for _ in range(count):
        page.keyboard.press("1")
    page.keyboard.press("Enter")


def kill(page: Page) -> None:
    """End a browser that can say nothing any more."""
    page.context.route("**/*", lambda route: route.abort())
    page.context.close()


# In the fast tier: a page that is left, below.
@pytest.mark.deep
def test_a_killed_browser_starves_no_one_and_its_person_goes_on_where_they_were(
    open_browser: OpenBrowser, people: list[Person], task: str
) -> None:
    rosa, ben = people
    page = open_browser(rosa)
    page.goto(f"/labeling/{task}/work")
    expect(tiles(page)).to_have_count(BATCH)
    page.keyboard.press("2")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    kill(page)

    # Eight lay on her screen and eight were fetched ahead: those are ben's now.
    other = open_browser(ben)
    other.goto(f"/labeling/{task}/work")
    label_batch(other, IMAGES - 2 * BATCH)
    label_batch(other, BATCH)
    expect(other.get_by_text("Nothing left to label")).to_be_visible()
    held = other.get_by_text("rosa is labeling 8 images: reserved until")
    expect(held).to_be_visible()

    # Her next browser has nothing of the old one: what she had chosen comes from the server.
    again = open_browser(rosa)
    again.goto(f"/labeling/{task}/work")
    again.get_by_role("button", name="Go on here").click()
    expect(tiles(again)).to_have_count(BATCH)
    expect(again.get_by_text("7 images to label")).to_be_visible()
    for _ in range(BATCH - 1):
        again.keyboard.press("1")
    again.keyboard.press("Enter")
    expect(again.get_by_text("Saved", exact=True)).to_be_visible()
    expect(held).to_be_hidden()
    expect(other.get_by_text("Every image is labelled.")).to_be_visible()


def test_leaving_shortens_the_batch_and_coming_back_has_it_with_its_draft(
    open_browser: OpenBrowser, people: list[Person], task: str, atom: Client
) -> None:
    rosa, ben = people
    page = open_browser(rosa)
    page.goto(f"/labeling/{task}/work")
    expect(tiles(page)).to_have_count(BATCH)
    page.keyboard.press("2")
    expect(page.get_by_text("7 images to label")).to_be_visible()
    page.get_by_role("link", name="Overview").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    other = open_browser(ben)
    other.goto(f"/labeling/{task}/work")
    # All that she has not seen is his, and hers ends within a minute.
    expect(tiles(other)).to_have_count(BATCH)
    [holder] = [
        one
        for one in atom.http.get(f"labelx/tasks/{task}/waiting/")["holders"]
        if one["name"] == "rosa"
    ]
    assert holder["items"] == BATCH
    left = datetime.fromisoformat(holder["until"]) - datetime.now().astimezone()
    assert left.total_seconds() < MINUTE_S

    page.go_back()
    expect(tiles(page)).to_have_count(BATCH)
    expect(page.get_by_text("7 images to label")).to_be_visible()
    page.reload()
    expect(page.get_by_text("7 images to label")).to_be_visible()
    [holder] = [
        one
        for one in atom.http.get(f"labelx/tasks/{task}/waiting/")["holders"]
        if one["name"] == "rosa"
    ]
    left = datetime.fromisoformat(holder["until"]) - datetime.now().astimezone()
    assert left.total_seconds() > 2 * MINUTE_S
    tab = page.context.new_page()
    tab.goto(f"/labeling/{task}/work")
    expect(tiles(tab)).to_have_count(IMAGES - 2 * BATCH)
    for _ in range(BATCH - 1):
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    # Items that the other tab shows stay there.
    expect(page.get_by_text("4 images are open in another window of yours.")).to_be_visible()


def test_ones_own_work_is_offered_to_others_only_and_the_rest_of_a_publication_goes_on(
    open_browser: OpenBrowser, people: list[Person], task: str, atom: Client
) -> None:
    rosa, ben = people
    page = open_browser(rosa)
    page.goto(f"/labeling/{task}/work")
    expect(tiles(page)).to_have_count(BATCH)
    page.keyboard.press("s")
    expect(page.get_by_text("was skipped; somebody else gets it.")).to_be_visible()
    expect(tiles(page)).to_have_count(BATCH - 1)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(tiles(page)).to_have_count(BATCH)
    # The cursor is on the image that came back.
    page.keyboard.press("Home")
    label_batch(page, BATCH)
    expect(tiles(page)).to_have_count(BATCH)
    page.goto(f"/labeling/{task}")
    own = "You labelled all of these 8 images; somebody else must audit them."
    expect(page.get_by_text(own)).to_be_visible()
    expect(page.get_by_role("link", name="Audit 8 images")).to_have_count(0)
    page.goto(f"/labeling/{task}/audit")
    expect(page.get_by_text(own)).to_be_visible()
    page.goto("/")
    needs = page.get_by_role("region", name="Needs you")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    name = atom.labelx.get(task)["name"]
    expect(needs.get_by_role("link", name=f"Audit: {name}")).to_have_count(0)

    other = open_browser(ben)
    other.goto(f"/labeling/{task}")
    other.get_by_role("link", name="Audit 8 images").click()
    other.get_by_role("button", name="Accept 8, send back 0").click()
    expect(other.get_by_text("Nothing to audit")).to_be_visible()
    other.goto(f"/labeling/{task}")
    other.get_by_role("button", name="Publish").click()
    other.get_by_role("button", name="Publish what is accepted").click()
    expect(other.get_by_text("12 images were left out")).to_be_visible(timeout=60_000)
    other.get_by_role("button", name="Finish the 12 images that were left out").click()
    expect(other.get_by_role("heading", name=f"{name} (2)")).to_be_visible()
    other.get_by_role("link", name="Label", exact=True).click()
    expect(tiles(other)).to_have_count(BATCH)
