"""Uploading a folder in the portal: dropped, cut off, resumed, and committed byte for byte."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from atom_sdk.client import Client
from tests.browser.boxes import box_of
from tests.browser.signing_in import sign_in
from tests.datasets.pushing import png
from tests.people import administrator
from tests.stack import Stack

DATASET = "dropped-folder"
# Names that tools mangle; what was dropped must come back as it was.
NAMES = (
    "plain.txt",
    "ünï/深い.txt",
    "a b/-dash (1).txt",
    "\U0001f600.txt",
    "\uff5e.txt",
    "empty.bin",
)
LARGE = 20 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of some hundred small files and one that is sent in two parts."""
    root = tmp_path / "My Folder (1)"
    for number in range(300):
        path = root / f"images/{number % 7}/{number:04d}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1000 + number * 13))
    for name in NAMES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() if name != "empty.bin" else b"")
    (root / "large.bin").write_bytes(os.urandom(LARGE))
    return root


@pytest.fixture
def page(browser: Browser, base_url: str, stack: Stack) -> Iterator[Page]:
    """A page in a context of its own: what the browser keeps survives no test."""
    context = browser.new_context(base_url=base_url, locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    sign_in(page, stack, administrator(stack))
    yield page
    context.close()


def drop(page: Page, target: Locator, folder: Path) -> None:
    """Drop a folder from outside of the browser."""
    box = box_of(target)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files by path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def is_part(request: Request) -> bool:
    return request.method == "PUT" and "/media/parts/" in request.url


def test_a_dropped_folder_that_was_cut_off_is_resumed_and_arrives_byte_for_byte(
    page: Page, atom: Client, folder: Path, tmp_path: Path
) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    # All parts arrive; then the connection is gone. (A route would pass all bytes through here.)
    devtools.send("Network.setBlockedURLs", {"urls": ["*/complete/"]})
    page.goto("/datasets")
    drop(page, page.get_by_role("heading", name="Datasets"), folder)
    name = page.get_by_role("combobox", name="Dataset")
    expect(name).to_have_value("my-folder-1")
    name.fill(DATASET)
    page.get_by_label("Message").fill("from the browser")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("It is asked again every few seconds")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()

    devtools.send("Network.setBlockedURLs", {"urls": []})
    page.reload()
    sent: list[Request] = []

    def keep(request: Request) -> None:
        if is_part(request):
            sent.append(request)

    page.on("request", keep)
    unfinished = page.get_by_role("region", name="Unfinished uploads")
    unfinished.get_by_role("button", name="Go on").click()
    drop(page, page.get_by_role("region", name=re.compile("again")), folder)
    expect(page.get_by_text("Upload complete")).to_be_visible()

    # Nothing but the changes: the two parts of the pack were at the server.
    assert len(sent) == 1, [request.url for request in sent]
    target = tmp_path / "pulled"
    atom.datasets.pull(f"{DATASET}@v1", target)
    assert contents(target) == contents(folder)
    version = atom.datasets.version(f"{DATASET}@v1")
    assert (version["message"], version["file_count"]) == (
        "from the browser",
        len(contents(folder)),
    )

    page.get_by_role("link", name="Look at them").click()
    expect(page.get_by_role("heading", name=DATASET)).to_be_visible()
    page.goto("/uploads")
    expect(page.get_by_role("region", name="Drop a folder")).to_be_visible()
    expect(unfinished).to_have_count(0)


def test_a_second_upload_sends_what_changed_and_can_replace_a_folder(
    page: Page, atom: Client, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    for path in ("keep/a.txt", "raw/same.txt", "raw/changed.txt", "raw/gone.txt"):
        (first / path).parent.mkdir(parents=True, exist_ok=True)
        (first / path).write_text(path)
    atom.datasets.push(first, "replaced")
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "same.txt").write_text("raw/same.txt")
    (raw / "changed.txt").write_text("something else")

    page.goto("/datasets/replaced?path=raw/")
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_test_id("upload-folder").set_input_files(raw)
    page.get_by_role("radio", name="Replace the folder").check()
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("v2 has 2 changes: 1 changed file, 1 removed file.")).to_be_visible()

    target = tmp_path / "pulled"
    atom.datasets.pull("replaced@v2", target)
    assert contents(target) == {
        "keep/a.txt": b"keep/a.txt",
        "raw/same.txt": b"raw/same.txt",
        "raw/changed.txt": b"something else",
    }
    version = atom.datasets.version("replaced@v2")
    assert (version["added"], version["removed"], version["changed"]) == (0, 1, 1)

    page.get_by_role("button", name="Upload more").click()
    page.get_by_test_id("upload-folder").set_input_files(raw)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("Everything was there already, in v2.")).to_be_visible()


def test_files_that_are_there_take_labels_from_folders_when_they_are_uploaded_again(
    page: Page, atom: Client, tmp_path: Path
) -> None:
    pets = tmp_path / "pets"
    for path in ("cats/1.txt", "dogs/2.txt"):
        (pets / path).parent.mkdir(parents=True, exist_ok=True)
        (pets / path).write_text(path)
    atom.datasets.push(pets, "labelled-later")

    page.goto("/uploads?dataset=labelled-later")
    page.get_by_test_id("upload-folder").set_input_files(pets)
    box = page.get_by_role("checkbox", name="Label each file by its folder")
    box.check()
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("v2 has 2 changes: 2 labels.")).to_be_visible()
    labels = {one.path: one.label for one in atom.datasets.open("labelled-later@v2")}
    assert labels == {"cats/1.txt": "cats", "dogs/2.txt": "dogs"}

    page.get_by_role("button", name="Upload more").click()
    page.get_by_test_id("upload-folder").set_input_files(pets)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("Everything was there already, in v2.")).to_be_visible()


def test_files_that_are_there_take_splits_from_folders_when_they_are_uploaded_again(
    page: Page, atom: Client, tmp_path: Path
) -> None:
    pets = tmp_path / "pets"
    for number, path in enumerate(("train/1.png", "train/2.png", "val/3.png")):
        (pets / path).parent.mkdir(parents=True, exist_ok=True)
        (pets / path).write_bytes(png(number))
    atom.datasets.push(pets, "split-later")
    (pets / "val" / "4.png").write_bytes(png(4))

    page.goto("/uploads?dataset=split-later")
    page.get_by_test_id("upload-folder").set_input_files(pets)
    page.get_by_role("checkbox", name="Put each file into the split").check()
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("Upload complete")).to_be_visible()
    splits = {one.path: one.split for one in atom.datasets.open("split-later")}
    train, val = ("train/1.png", "train/2.png"), ("val/3.png", "val/4.png")
    assert splits == dict.fromkeys(train, "train") | dict.fromkeys(val, "val")
    versions = len(list(atom.datasets.log("split-later")))

    page.get_by_role("button", name="Upload more").click()
    page.get_by_test_id("upload-folder").set_input_files(pets)
    page.get_by_role("checkbox", name="Put each file into the split").check()
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("Everything was there already")).to_be_visible()
    assert len(list(atom.datasets.log("split-later"))) == versions


def test_one_upload_in_two_tabs_comes_to_its_end_in_both(
    page: Page, atom: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "a.txt").write_text("the same in both tabs")
    asked: list[Route] = []

    def hold_the_changes(route: Route) -> None:
        """Let the pack through, and keep the list of changes back."""
        asked.append(route)
        if len(asked) != 2:
            route.continue_()

    page.route("**/uploads/*/parts/", hold_the_changes)
    other = page.context.new_page()
    for tab in (page, other):
        # Chromium with its own interface draws no tab that is behind another, so nothing can be
        # chosen in it; its headless shell draws all.
        tab.bring_to_front()
        tab.goto("/uploads")
        tab.get_by_test_id("upload-folder").set_input_files(folder)
        tab.get_by_role("combobox", name="Dataset").fill("twice-at-once")
        tab.get_by_role("button", name="Upload", exact=True).click()
        while tab is page and len(asked) < 2:
            tab.wait_for_timeout(50)
    expect(other.get_by_text("v1 has 1 change: 1 new file.")).to_be_visible()
    asked[1].continue_()

    page.bring_to_front()
    expect(page.get_by_text("Everything was there already, in v1.")).to_be_visible()
    assert atom.datasets.version("twice-at-once@main")["number"] == 1
