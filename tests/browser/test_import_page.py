"""Importing in the portal: an export is uploaded, looked at, imported with a loss accepted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from playwright.sync_api import Page, expect

from atom_sdk.client import Client
from tests.browser.accessibility import violations
from tests.datasets.exports import coco_files, written

DATASET = "vet-pets"
RUN_MS = 240_000
LOSS = "3 of 120 objects (2.5 %)"


def test_an_export_is_uploaded_looked_at_and_imported_with_its_loss(
    signed_in_page: Page, atom: Client, tmp_path: Path
) -> None:
    page = signed_in_page
    folder = written(coco_files(), tmp_path / DATASET)
    page.goto("/uploads")
    page.get_by_test_id("upload-folder").set_input_files(folder)
    expect(page.get_by_role("combobox", name="Dataset")).to_have_value(DATASET)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("link", name="Look at them").click()

    offer = page.get_by_role("alert").filter(has_text="instances_train.json")
    offer.get_by_role("link", name="Look and import").click()
    expect(page.get_by_text("COCO: annotations/instances_train.json")).to_be_visible()
    page.get_by_role("button", name="Look at it").press("Enter")
    losses = page.get_by_role("region", name="Losses", exact=True)
    expect(losses).to_contain_text("3 objects lost; their pictures stay", timeout=RUN_MS)
    expect(losses.get_by_role("row", name="All objects")).to_contain_text("2.5 %")
    accepting = page.get_by_role("button", name=f"Import and accept that {LOSS} are lost")
    expect(accepting).to_be_disabled()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, only_of_colors=True) == []
    page.emulate_media(color_scheme="light")

    # The address holds the report; a reload shows it again.
    page.reload()
    page.get_by_role("checkbox", name=re.compile("I accept that 3 of 120 objects")).press("Space")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    accepting.press("Enter")
    expect(page.get_by_text(f"Imported as {DATASET}@v2")).to_be_visible(timeout=RUN_MS)
    page.get_by_role("link", name="Look at it").click()
    expect(page.get_by_role("heading", name=DATASET)).to_be_visible()
    expect(page).to_have_url(re.compile(rf"/datasets/{DATASET}\?.*ref=v2"))
    expect(page.get_by_text("3 objects or labels lost")).to_be_visible()
    expect(page.get_by_role("link", name="Look and import")).to_have_count(0)

    version = atom.datasets.version(f"{DATASET}@v2")
    assert version["provenance"]["inputs"] == [f"{DATASET}@v1"]
    assert version["provenance"]["import"]["counts"]["lost_objects"] == 3
    assert (version["added"], version["removed"]) == (0, 0)
    row = next(
        row for row in atom.datasets.entries(f"{DATASET}@v2") if row["path"] == "images/01.png"
    )
    classes = Counter(one["label"] for one in row["annotations"]["objects"])
    assert classes == {"cat": 8, "dog": 1}
