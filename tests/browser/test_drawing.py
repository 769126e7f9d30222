"""Drawn objects from the form of the task to the layer of the published version, by mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import read_layer
from tests.browser.accessibility import violations
from tests.browser.drawing import Fitted, Place, click_each, drag, fit_picture
from tests.browser.seed import Seed
from tests.browser.signing_in import sign_in
from tests.stack import Stack

WIDTH, HEIGHT = 320, 240
NAME, DATASET = "Cars of the street", "street"
REMARK = "it stands further to the right"
CORNERS: tuple[Place, Place] = (40.0, 60.0), (130.0, 140.0)
RING: list[Place] = [(180.0, 40.0), (290.0, 70.0), (270.0, 190.0), (200.0, 170.0)]
SHIFT_PX = 12


@pytest.fixture
def labeler_page(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack, seed: Seed
) -> Iterator[Page]:
    """A labeler's browser."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    sign_in(page, stack, seed.labeler)
    yield page
    context.close()


@pytest.fixture
def street(atom: Client, seed: Seed, tmp_path: Path) -> str:
    """A version with one picture that nobody has labelled."""
    (tmp_path / "unlabelled").mkdir()
    Image.new("RGB", (WIDTH, HEIGHT), "#88a0a8").save(tmp_path / "unlabelled" / "street.png")
    atom.datasets.push(tmp_path, DATASET, PushOptions("", "folder", ("unlabelled",)))
    return f"{DATASET}@v1"


def make_task(page: Page, dataset: str) -> str:
    """Make a task through its form and start it; return its id."""
    page.goto(f"/labeling?create={dataset}")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Draw objects").click()
    dialog.get_by_role("textbox", name="Name", exact=True).fill(NAME)
    dialog.get_by_role("button", name="Add a class").click()
    dialog.get_by_role("textbox", name="Name of class 1").fill("car")
    # Its pills lie above the field itself.
    dialog.get_by_role("combobox", name="Shapes of car").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("option", name="Polygon").click()
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Attributes and more").click()
    dialog.get_by_role("button", name="Add an attribute").first.click()
    dialog.get_by_role("textbox", name="Name of the attribute").fill("colour")
    for choice in ("red", "blue"):
        dialog.get_by_role("combobox", name="Choices of colour").fill(choice)
        page.keyboard.press("Enter")
    dialog.get_by_role("textbox", name="Audit share").fill("100")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("link", name="Label", exact=True)).to_be_visible()
    return page.url.rstrip("/").rpartition("/")[2].partition("?")[0]


def row_of(page: Page, name: str) -> Locator:
    """Return an object's row in the list beside the canvas."""
    return page.get_by_role("region", name="Objects").get_by_role("button", name=name, exact=True)


def draw(page: Page) -> tuple[Fitted, list[Place], list[Place]]:
    """Draw a box and a polygon; return where the picture lies and the presses on the screen."""
    fitted = fit_picture(page, WIDTH, HEIGHT)
    corners, ring = [[fitted.screen(at) for at in places] for places in (CORNERS, RING)]
    page.keyboard.press("b")
    drag(page, corners[0], corners[1])
    expect(row_of(page, "car 1")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("combobox", name="colour").click()
    page.get_by_role("option", name="blue", exact=True).click()
    page.get_by_role("application").focus()
    page.keyboard.press("p")
    click_each(page, [*ring, ring[0]])
    expect(row_of(page, "car 2")).to_be_visible()
    return fitted, corners, ring


def reload_and_undo(page: Page) -> None:
    """Reload at once: all that was drawn is there again, and so are its steps back."""
    page.reload()
    expect(row_of(page, "car 2")).to_be_visible()
    page.get_by_role("application").focus()
    page.keyboard.press("Control+z")
    expect(row_of(page, "car 2")).to_be_hidden()
    page.keyboard.press("Control+y")
    expect(row_of(page, "car 2")).to_be_visible()
    row_of(page, "car 1").click()
    expect(page.get_by_role("combobox", name="colour")).to_have_value("blue")
    page.get_by_role("application").focus()


def send_back(page: Page, task: str) -> None:
    """As the auditor: see both objects, pin a remark to the box and return the picture."""
    page.goto(f"/labeling/{task}")
    page.get_by_role("link", name="Audit 1 image").click()
    expect(row_of(page, "car 2")).to_be_visible()
    row_of(page, "car 1").click()
    page.get_by_role("textbox", name="Pin a remark").fill(REMARK)
    page.get_by_role("button", name="Add", exact=True).click()
    assert violations(page) == []
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_text("Nothing to audit")).to_be_visible()


def correct(page: Page, task: str) -> float:
    """As the labeler: read the remark, move the box to the right; return by how much."""
    page.goto(f"/labeling/{task}/work")
    page.get_by_role("button", name=REMARK).click()
    expect(row_of(page, "car 1 has a remark")).to_have_attribute("aria-pressed", "true")
    assert violations(page) == []
    fitted = fit_picture(page, WIDTH, HEIGHT)
    page.keyboard.press("v")
    x, y = fitted.screen((60, 85))
    drag(page, (x, y), (x + SHIFT_PX, y))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing left to label")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    return SHIFT_PX / fitted.scale


def accept_and_publish(page: Page, task: str) -> None:
    """As the auditor: accept the correction and publish the task."""
    page.goto(f"/labeling/{task}/audit")
    expect(row_of(page, "car 2")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Nothing to audit")).to_be_visible()
    page.goto(f"/labeling/{task}")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("link", name=f"{DATASET}@v2")).to_be_visible(timeout=60_000)


def published(atom: Client) -> list[NamedDocument]:
    """Return the documents of the layer `objects`, read as any client reads it."""
    manifest = RemoteManifest(atom.http, atom.datasets.version_base(f"{DATASET}@v2"))
    layer = manifest.root.layer("objects")
    assert layer is not None
    return list(documents_of(read_layer(layer, manifest)))


def test_what_the_mouse_draws_is_in_the_layer_of_the_published_version(
    signed_in_page: Page, labeler_page: Page, street: str, atom: Client
) -> None:
    auditor, labeler = signed_in_page, labeler_page
    task = make_task(auditor, street)
    labeler.goto(f"/labeling/{task}/work")
    fitted, corners, ring = draw(labeler)
    assert violations(labeler) == []
    reload_and_undo(labeler)
    labeler.keyboard.press("Enter")
    expect(labeler.get_by_text("Nothing left to label")).to_be_visible()
    expect(labeler.get_by_text("Saved", exact=True)).to_be_visible()
    send_back(auditor, task)
    to_the_right = correct(labeler, task)
    accept_and_publish(auditor, task)

    [document] = published(atom)
    box, polygon = document.objects
    assert (box.label, box.attributes, polygon.label) == ("car", {"colour": "blue"}, "car")
    (x1, y1), (x2, y2) = map(fitted.picture, corners)
    drawn = [x1 + to_the_right, y1, x2 - x1, y2 - y1]
    assert box.geometry.as_json()["box"] == pytest.approx(drawn, rel=0, abs=1e-6)
    [[points]] = polygon.geometry.as_json()["parts"]
    pressed = [value for place in ring for value in fitted.picture(place)]
    assert points == pytest.approx(pressed, rel=0, abs=1e-6)
