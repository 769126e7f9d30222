"""Versions are merged, picked and undone in the portal without a mouse, on the whole stack."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from atom_sdk.client import Client
from atom_sdk.client.errors import CommitFailedError
from atom_sdk.client.push.push import PushOptions
from tests.browser.accessibility import violations
from tests.browser.seed import draw_shapes
from tests.browser.visiting import await_true, visit
from tests.browser.watching import watch

DATASET = "keyboard"
CLASHING = "clashing"
# More than any of these pages has before what is looked for.
_MOST_TABS = 100
_FOCUSED = """() => {
  const element = document.activeElement;
  return element.getAttribute('aria-label') ?? element.textContent;
}"""
_DIALOG_HAS_FOCUS = (
    """() => document.querySelector('[role=dialog]')?.contains(document.activeElement)"""
)

_PICTURES_ARE_DRAWN = """() => {
  const pictures = [...document.querySelectorAll('[role=radiogroup] img')];
  return pictures.length === 4 && pictures.every((image) => image.naturalWidth > 0);
}"""


def tab_to(page: Page, name: str) -> None:
    """Go on with Tab until what has that name has the focus."""
    for _ in range(_MOST_TABS):
        if page.evaluate(_FOCUSED) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not come to {name!r}, but to {page.evaluate(_FOCUSED)!r}")


def choose_in_menu(page: Page, item: str) -> None:
    """Open the menu of a version and choose what it offers."""
    tab_to(page, "More")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu")).to_be_visible()
    for _ in range(_MOST_TABS):
        page.keyboard.press("ArrowDown")
        if page.evaluate(_FOCUSED) == item:
            break
    page.keyboard.press("Enter")


def test_a_merge_is_made_and_undone_by_keyboard_alone(
    signed_in_page: Page, atom: Client, tmp_path: Path
) -> None:
    draw_shapes(tmp_path, 3)
    atom.datasets.push(tmp_path, DATASET, PushOptions("three"))
    atom.operations.create_branch(DATASET, "fix")
    moved = {"op": "move", "paths": ["unlabelled/"], "to": "kept/"}
    atom.operations.edit(f"{DATASET}@fix", [moved])
    page = signed_in_page
    page.goto(f"/datasets/{DATASET}/versions")
    merge = "Merge fix into another branch"
    expect(page.get_by_role("button", name=merge)).to_be_visible()
    seen = watch(page)

    # A failure of somebody else's operation is shown here at once, with the next step, until it is
    # dismissed.
    with pytest.raises(CommitFailedError):
        atom.operations.edit(f"{DATASET}@main", [{"op": "remove", "paths": ["nowhere"]}])
    failed = page.get_by_role("group", name="Edit of main")
    expect(failed).to_contain_text("No file is at nowhere")
    assert violations(page) == []
    tab_to(page, "Dismiss: Edit of main")
    page.keyboard.press("Enter")
    expect(failed).to_have_count(0)

    tab_to(page, merge)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Merge versions")
    expect(dialog.get_by_role("group", name="What will change")).to_be_visible()
    await_true(page, _DIALOG_HAS_FOCUS)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    await_true(page, f"({_FOCUSED})() === {merge!r}")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_enabled()
    tab_to(page, "Merge")
    page.keyboard.press("Enter")
    expect(page.get_by_text("fix is merged into main: v2")).to_be_visible()
    expect(dialog).to_have_count(0)

    visit(page, f"/datasets/{DATASET}")
    expect(page.get_by_role("button", name="More", exact=True)).to_be_visible()
    choose_in_menu(page, "Take paths to a branch…")
    picking = page.get_by_role("dialog", name="Take paths from v2")
    expect(picking).to_be_visible()
    await_true(page, _DIALOG_HAS_FOCUS)
    page.keyboard.press("Escape")
    expect(picking).to_have_count(0)
    choose_in_menu(page, "Undo this version…")
    undoing = page.get_by_role("dialog", name="Undo v2")
    expect(undoing.get_by_role("button", name="Undo it")).to_be_enabled()
    await_true(page, _DIALOG_HAS_FOCUS)
    tab_to(page, "Undo it")
    page.keyboard.press("Enter")
    expect(page.get_by_text("v2 is undone: v3")).to_be_visible()
    expect(undoing).to_have_count(0)
    first, last = (atom.datasets.version(f"{DATASET}@{ref}") for ref in ("v1", "v3"))
    assert first["content_digest"] == last["content_digest"]
    assert seen.problems() == []


def test_conflicts_are_settled_one_by_one_by_keyboard_and_seen_as_pictures(
    signed_in_page: Page, atom: Client, tmp_path: Path
) -> None:
    draw_shapes(tmp_path, 6)
    atom.datasets.push(tmp_path, CLASHING, PushOptions("six"))
    atom.operations.create_branch(CLASHING, "fix")
    names = ("circle/002.png", "circle/004.png")
    for branch, other in (("main", "square/001.png"), ("fix", "unlabelled/000.png")):
        for name in names:
            (tmp_path / name).write_bytes((tmp_path / other).read_bytes())
        atom.datasets.push(tmp_path, f"{CLASHING}@{branch}", PushOptions(f"as {other}"))
    page = signed_in_page
    page.goto(f"/datasets/{CLASHING}/versions")
    seen = watch(page)
    tab_to(page, "Merge fix into another branch")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Merge versions")
    expect(dialog.get_by_role("status")).to_have_text("0 of 2 settled")
    await_true(page, _PICTURES_ARE_DRAWN)
    assert violations(page) == []
    merge = dialog.get_by_role("button", name="Merge", exact=True)
    expect(merge).to_be_disabled()

    await_true(page, _DIALOG_HAS_FOCUS)
    tab_to(page, "the other side (fix)")
    for key in ("Tab", "Tab", "Space", "Tab", "Space", "ArrowDown"):
        page.keyboard.press(key)
    expect(dialog.get_by_role("status")).to_have_text("2 of 2 settled")
    expect(merge).to_be_enabled()
    tab_to(page, "Merge")
    page.keyboard.press("Enter")
    expect(page.get_by_text("fix is merged into main: v3")).to_be_visible()

    digests = {
        ref: {row["path"]: row["digest"] for row in atom.datasets.entries(f"{CLASHING}@{ref}")}
        for ref in ("v2", "v3", "fix")
    }
    assert digests["v3"][names[0]] == digests["v2"][names[0]]
    assert digests["v3"][names[1]] == digests["fix"][names[1]]
    assert seen.problems() == []
