"""A labeler's shift by mouse and keyboard, while networks, tabs and reloads get in the way.

Each picture has one object, whose places follow from the picture's number. At the end each picture
is in the published layer once, with the coordinates that the mouse pressed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import Mask
from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import read_layer
from tests.browser.drawing import Place, click_each, drag, fit_picture
from tests.browser.seed import Seed, wait_for
from tests.browser.signing_in import sign_in
from tests.stack import Stack

WIDTH, HEIGHT = 320, 240
BATCH = 20
KINDS = ("box", "polygon", "attribute", "skeleton", "mask")
COLOUR, RED, BLUE = 1, 1, 2
LABELS: Final[list[dict[str, Any]]] = [
    {"id": 1, "name": "box", "hotkey": "1", "tools": ["box"]},
    {"id": 2, "name": "polygon", "hotkey": "2", "tools": ["polygon"]},
    {
        "id": 3,
        "name": "attribute",
        "hotkey": "3",
        "tools": ["box"],
        "attributes": [
            {
                "id": COLOUR,
                "name": "colour",
                "kind": "choice",
                "choices": [{"id": RED, "name": "red"}, {"id": BLUE, "name": "blue"}],
            }
        ],
    },
    {
        "id": 4,
        "name": "skeleton",
        "hotkey": "4",
        "tools": ["keypoints"],
        "skeleton": {"points": [{"name": "head"}, {"name": "foot"}], "edges": [[0, 1]]},
    },
    {"id": 5, "name": "mask", "hotkey": "5", "tools": ["mask"]},
]
TOOLS = {"box": "b", "polygon": "p", "attribute": "b", "skeleton": "k", "mask": "m"}


@dataclass
class Shift:
    """The pictures that the labeler has submitted, with the places that the mouse pressed."""

    context: BrowserContext
    page: Page
    address: str
    pressed: dict[str, list[Place]] = field(default_factory=dict)

    def draw(self) -> str:
        """Draw on the picture that is shown; return its path."""
        path = shown(self.page)
        kind, places = plan_of(path)
        fitted = fit_picture(self.page, WIDTH, HEIGHT)
        presses = [fitted.screen(place) for place in places]
        self.page.keyboard.press(str(KINDS.index(kind) + 1))
        self.page.keyboard.press(TOOLS[kind])
        if kind in {"box", "attribute", "mask"}:
            drag(self.page, presses[0], presses[1])
        else:
            click_each(self.page, [*presses, *presses[: kind == "polygon"]])
        expect(row_of(self.page, kind)).to_be_visible()
        if kind == "attribute":
            self.page.get_by_role("combobox", name="colour").click()
            self.page.get_by_role("option", name="blue", exact=True).click()
            self.page.get_by_role("application").focus()
        self.pressed[path] = [fitted.picture(press) for press in presses]
        return path

    def submit(self, path: str) -> None:
        """Press Enter and wait until another picture, or none, is there."""
        if plan_of(path)[0] == "mask":
            # It ends the mask first, so that another one can begin.
            self.page.keyboard.press("Enter")
        self.page.keyboard.press("Enter")
        expect(picture(self.page, path)).to_be_hidden()

    def reload(self, path: str) -> None:
        """Reload the page: what was drawn is there again."""
        self.page.reload()
        self._is_there(path)

    def lose_tab(self, path: str) -> None:
        """Close the tab, which asks and says nothing; another one goes on."""
        # The submission before it can be taken back for thirty seconds, and is sent after them.
        expect(self.page.get_by_text("Saved", exact=True)).to_be_visible(timeout=60_000)
        self.page.close(run_before_unload=False)
        self.page = self.context.new_page()
        self.page.goto(self.address)
        self._is_there(path)

    def work_in_another_tab(self, path: str) -> None:
        """Work on another picture in a second tab, which hands back the rest."""
        other = Shift(self.context, self.context.new_page(), self.address, self.pressed)
        other.page.goto(self.address)
        drawn = other.draw()
        assert drawn != path
        # It is sent a few seconds later, and so after its page is gone.
        other.submit(drawn)
        other.page.goto("about:blank")
        other.page.close()
        self.page.bring_to_front()
        self._is_there(path)

    def _is_there(self, path: str) -> None:
        expect(picture(self.page, path)).to_be_visible()
        expect(row_of(self.page, plan_of(path)[0])).to_be_visible()
        self.page.get_by_role("application").focus()


def plan_of(path: str) -> tuple[str, list[Place]]:
    """Return the kind of a picture's object and where the mouse presses, in the picture."""
    number = int(Path(path).stem)
    chance = random.Random(number)
    left, top = chance.uniform(20, 140), chance.uniform(20, 90)
    right, bottom = left + chance.uniform(40, 140), top + chance.uniform(40, 110)
    corners: list[Place] = [(left, top), (right, bottom)]
    kind = KINDS[number % len(KINDS)]
    return kind, [*corners, (left, bottom)] if kind == "polygon" else corners


def picture(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=f"Picture {path}", exact=True)


def shown(page: Page) -> str:
    region = page.get_by_role("region", name=re.compile("^Picture "))
    expect(region).to_be_visible()
    return str(region.get_attribute("aria-label")).removeprefix("Picture ")


def row_of(page: Page, kind: str) -> Locator:
    return page.get_by_role("region", name="Objects").get_by_role(
        "button", name=f"{kind} 1", exact=True
    )


@pytest.fixture
def labeler_context(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack, seed: Seed
) -> Iterator[BrowserContext]:
    """A labeler's browser with its own storage."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    sign_in(page, stack, seed.labeler)
    page.close()
    yield context
    context.close()


def started(atom: Client, folder: Path, pictures: int) -> tuple[str, str]:
    """Push so many pictures; return their dataset and the id of a task over them."""
    dataset = f"shift-{pictures}"
    for number in range(pictures):
        colour = (number % 256, number // 256 * 40, 120)
        Image.new("RGB", (WIDTH, HEIGHT), colour).save(folder / f"{number:04}.png")
    atom.datasets.push(folder, dataset, PushOptions("a shift"))
    task = atom.labelx.create(
        name=dataset,
        dataset=f"{dataset}@v1",
        labels=LABELS,
        modality="image-objects",
        batch_size=BATCH,
        audit_percent=0,
    )
    atom.labelx.act(task["id"], "start")
    return dataset, str(task["id"])


def work(shift: Shift, pictures: int) -> None:
    """Draw on each picture and submit it, with a fault at each sixth of the shift."""
    faults: dict[int, Callable[[str], None]] = {
        pictures * 2 // 6: shift.reload,
        pictures * 3 // 6: shift.lose_tab,
        pictures * 4 // 6: shift.work_in_another_tab,
    }
    # As many pictures as are fetched ahead.
    offline = range(pictures // 6, pictures // 6 + 3)
    while (number := len(shift.pressed)) < pictures:
        if number in {offline.start, offline.stop}:
            shift.context.set_offline(number == offline.start)
        path = shift.draw()
        if number in faults:
            faults[number](path)
        shift.submit(path)
    expect(shift.page.get_by_text("Nothing left to label")).to_be_visible()
    expect(shift.page.get_by_text("Saved", exact=True)).to_be_visible(timeout=60_000)


def published(atom: Client, dataset: str, task: str) -> dict[str, NamedDocument]:
    """Publish the task and return the documents of its layer, by path."""
    atom.labelx.act(task, "publish")
    wait_for(lambda: atom.labelx.get(task)["state"] == "published")
    manifest = RemoteManifest(atom.http, atom.datasets.version_base(f"{dataset}@v2"))
    layer = manifest.root.layer("objects")
    assert layer is not None
    table = read_layer(layer, manifest)
    paths = table.column("path").to_pylist()
    assert len(set(paths)) == len(paths)
    return dict(zip(paths, documents_of(table), strict=True))


def check(path: str, drawn: NamedObject, places: list[Place]) -> None:
    """Compare an object with the places that the mouse pressed, within 1e-6 pixels."""
    kind, _ = plan_of(path)
    assert (drawn.label, drawn.attributes) == (
        kind, {"colour": "blue"} if kind == "attribute" else {},
    )  # fmt: skip
    shape = drawn.geometry.as_json()
    flat = [value for place in places for value in place]
    if isinstance(drawn.geometry, Mask):
        # A round brush: its middle is where the mouse went, and no pixel is far from there.
        pixels = rle.decode(drawn.geometry.counts, drawn.geometry.height, drawn.geometry.width)
        for (x1, y1), (x2, y2) in pairwise(places):
            assert pixels[int((y1 + y2) / 2), int((x1 + x2) / 2)]
        assert 0 < pixels.sum() < pixels.size / 2
        return
    if kind == "polygon":
        [[found]] = shape["parts"]
    elif kind == "skeleton":
        found = [value for at, value in enumerate(shape["points"]) if at % 3 != 2]
        assert shape["points"][2::3] == [2, 2]
    else:
        x, y, width, height = shape["box"]
        found = [x, y, x + width, y + height]
    assert found == pytest.approx(flat, rel=0, abs=1e-6)


@pytest.mark.parametrize("pictures", [30, pytest.param(300, marks=pytest.mark.deep)])
def test_a_shift_with_faults_is_in_the_layer_once_and_exactly(
    pictures: int, labeler_context: BrowserContext, seed: Seed, atom: Client, tmp_path: Path
) -> None:
    dataset, task = started(atom, tmp_path, pictures)
    page = labeler_context.new_page()
    shift = Shift(labeler_context, page, f"/labeling/{task}/work")
    page.goto(shift.address)
    work(shift, pictures)

    documents = published(atom, dataset, task)
    assert documents.keys() == shift.pressed.keys()
    for path, document in documents.items():
        [drawn] = document.objects
        check(path, drawn, shift.pressed[path])
