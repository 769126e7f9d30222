"""Grid labeling with the keyboard: lease, submit, audit, return, correction, publication."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.browser.boxes import box_of
from tests.browser.seed import Seed, draw_shapes, open_task
from tests.browser.signing_in import sign_in
from tests.browser.visiting import await_true
from tests.stack import Stack

UNLABELLED = 6
COMMENT = "it has corners"


@pytest.fixture
def task(atom: Client, seed: Seed, tmp_path: Path) -> str:
    """A task over six images; every label is audited."""
    draw_shapes(tmp_path, 3 * UNLABELLED)
    atom.datasets.push(tmp_path, "keys", PushOptions("", "folder", ("unlabelled",)))
    assert seed.labeler
    return open_task(atom, "By keyboard", "keys@v1")


@pytest.fixture
def labeler_page(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack, seed: Seed
) -> Iterator[Page]:
    """A second person's browser."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    sign_in(page, stack, seed.labeler)
    yield page
    # A page that is left lets go of its images; one that is killed holds them for a while.
    context.set_offline(False)
    page.goto("/")
    context.close()


def label(page: Page, task: str, keys: str) -> None:
    """Give each image of the batch a class and submit it, without the mouse."""
    page.goto(f"/labeling/{task}/work")
    tiles = page.get_by_role("option")
    expect(tiles).to_have_count(len(keys))
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing left to label")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def items_to_label(atom: Client) -> str:
    """Return what the navigation says of the images that nobody holds."""
    count = atom.http.get(f"projects/{atom.project}/overview/")["labeling"]["open_items"]
    return f"{count} item to label" if count == 1 else f"{count} items to label"


def test_a_task_goes_from_the_first_key_to_its_published_version(
    signed_in_page: Page, labeler_page: Page, task: str, atom: Client
) -> None:
    label(labeler_page, task, "121211")

    page = signed_in_page
    page.goto(f"/labeling/{task}")
    page.get_by_role("link", name="Audit 6 images").click()
    expect(page.locator("[data-tile]")).to_have_count(UNLABELLED)
    page.keyboard.press("x")
    page.get_by_role("textbox", name="Comment").fill(COMMENT)
    page.get_by_role("button", name="Accept 5, send back 1").click()
    expect(page.get_by_text("Nothing to audit")).to_be_visible()

    labeler_page.goto(f"/labeling/{task}/work")
    expect(labeler_page.get_by_text("1 image sent back")).to_be_visible()
    expect(labeler_page.get_by_text(COMMENT).first).to_be_visible()
    label(labeler_page, task, "2")

    page.goto(f"/labeling/{task}/audit")
    # The last batch is sent at once; a page that waits for work looks again every few seconds.
    expect(page.locator("[data-tile]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing to audit")).to_be_visible()
    page.goto(f"/labeling/{task}")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("link", name="keys@v2")).to_be_visible(timeout=60_000)
    stats = atom.datasets.stats("keys@v2")
    assert stats["unlabelled"] == 0
    assert sum(stats["labels"].values()) == 3 * UNLABELLED


def test_a_batch_is_on_the_server_when_the_page_is_left_during_its_undo_time(
    labeler_page: Page, atom: Client, seed: Seed, tmp_path: Path
) -> None:
    draw_shapes(tmp_path, 36)
    atom.datasets.push(tmp_path, "leaving", PushOptions("", "folder", ("unlabelled",)))
    task = open_task(atom, "Leaving", "leaving@v1")
    page = labeler_page
    page.goto(f"/labeling/{task}/work")
    expect(page.get_by_role("option")).to_have_count(8)
    for _ in range(8):
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("option")).to_have_count(4)
    expect(page.get_by_text("8 images are sent in a few seconds")).to_be_visible()
    assert atom.labelx.get(task)["progress"]["audit"] == 0
    # The navigation counts what nobody holds: what this page has just leased is not among it.
    expect(page.get_by_label(items_to_label(atom))).to_be_visible(timeout=5000)
    page.goto("about:blank")

    # Another browser sees it before the undo time would have been over.
    deadline = time.monotonic() + 5
    while atom.labelx.get(task)["progress"]["audit"] < 8:
        assert time.monotonic() < deadline, "the batch stayed in the closed tab"
        time.sleep(0.1)


def test_a_new_task_says_what_is_missing_at_each_field(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto("/labeling?create=shapes@v2")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("combobox", name="Dataset")).to_have_value("shapes")
    remove = dialog.get_by_role("button", name="Remove")
    expect(remove).to_have_count(3)
    for left in (2, 1, 0):
        remove.first.click()
        expect(remove).to_have_count(left)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("Give the task a name.")).to_be_visible()
    expect(dialog.get_by_text("A task needs at least two classes")).to_be_visible()
    name = dialog.get_by_role("textbox", name="Name", exact=True)
    expect(name).to_be_focused()
    name.fill("No classes")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("button", name="Add a class")).to_be_focused()


def test_an_image_without_a_class_stops_the_batch(labeler_page: Page, seed: Seed) -> None:
    page = labeler_page
    page.goto(f"/labeling/{seed.open_task}/work")
    expect(page.get_by_role("option")).to_have_count(8)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("7 images have no class yet")
    page.keyboard.press("Control+z")
    expect(page.get_by_text("8 images to label")).to_be_visible()


def test_work_in_progress_survives_a_reload(labeler_page: Page, seed: Seed) -> None:
    page = labeler_page
    page.goto(f"/labeling/{seed.open_task}/work")
    expect(page.get_by_role("option")).to_have_count(8)
    page.keyboard.press("2")
    expect(page.get_by_text("7 images to label")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("7 images to label")).to_be_visible()
    # The work goes on where it stopped: the next key leaves the first image as it is.
    page.keyboard.press("1")
    expect(page.get_by_text("6 images to label")).to_be_visible()
    expect(page.get_by_role("option").first).to_have_accessible_name(re.compile("square$"))
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    expect(page.get_by_text("8 images to label")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def test_without_a_connection_the_page_says_what_is_kept_and_sends_it_later(
    labeler_page: Page, seed: Seed
) -> None:
    page = labeler_page
    page.goto(f"/labeling/{seed.open_task}/work")
    expect(page.get_by_role("option")).to_have_count(8)
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.keyboard.press("2")
    expect(page.get_by_text("Kept on this computer: the classes of 2 images")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible(timeout=4000)
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def test_the_progress_of_a_task_stands_below_its_bar_on_one_line(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto("/labeling")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Name the shapes"))
    words, percent = row.get_by_text("accepted"), row.get_by_text("100%")
    expect(percent).to_be_visible()
    bar = box_of(row.get_by_role("img"))
    assert box_of(words)["y"] - (bar["y"] + bar["height"]) >= 3
    page.set_viewport_size({"width": 420, "height": 800})
    # In one look: the page above it moves while it takes the new width.
    await_true(
        page,
        "([one, other]) => one.getBoundingClientRect().top === other.getBoundingClientRect().top",
        arg=[percent.element_handle(), words.element_handle()],
    )
    assert seed.published_task


def test_a_task_is_made_of_the_images_among_other_files(
    signed_in_page: Page, atom: Client, tmp_path: Path
) -> None:
    draw_shapes(tmp_path, 6)
    for name in ("page.html", "drawing.svg", "notes.txt"):
        (tmp_path / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "torn.png").write_bytes(b"not a picture")
    atom.datasets.push(tmp_path, "among", PushOptions("", "folder", ("unlabelled",)))
    page = signed_in_page
    page.goto("/labeling?create=among@v1")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("3 files are left out")).to_be_visible()
    expect(dialog.get_by_text("1 image is left out: it cannot be read.")).to_be_visible()
    dialog.get_by_role("textbox", name="Name", exact=True).fill("Only images")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Only images")).to_be_visible()
    expect(page.get_by_text("3 files are left out")).to_be_visible()
    [task] = [one for one in atom.labelx.list() if one["name"] == "Only images"]
    assert task["left_out"] == {"not_images": 3, "unreadable": 1}
    assert task["progress"]["total"] == 2
