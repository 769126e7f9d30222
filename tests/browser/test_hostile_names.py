"""Names and texts of strangers are shown as text, wherever they are shown, and run nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Dialog, Page, expect

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.browser.seed import Seed, start_command, wait_for
from tests.browser.visiting import visit
from tests.browser.watching import await_quiet, watch

DATASET = "hostile"
# No slash, so that it may name a folder, which labels what is in it.
MARKUP = "<img src=x onerror=window.pwned=1>"
QUOTED = "\"'><svg onload=window.pwned=1>"
LINK = "javascript:window.pwned=1"
_DOCUMENT = "<script>window.pwned=1</script><body onload=window.pwned=1>"
_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"></svg>'
_MARKDOWN = f"# {MARKUP}\n\n[press]({LINK}) ![x]({LINK}) <{LINK}>\n\n{_DOCUMENT}\n"
# A run that writes all of it where runs can write.
_CODE = f"""
import json, sys
from atom_sdk import run
out = run.output_dir()
for name, text in {{
    "page.html": {_DOCUMENT!r}, "picture.svg": {_PICTURE!r}, "notes.md": {_MARKDOWN!r},
    "table.csv": {f"a,{MARKUP}" + chr(10) + f'=HYPERLINK("{LINK}"),{MARKUP}' + chr(10)!r},
    "data.json": json.dumps({{{MARKUP!r}: [{LINK!r}, {_DOCUMENT!r}]}}),
    {QUOTED!r} + ".txt": {_DOCUMENT!r},
}}.items():
    (out / name).write_text(text)
run.log({{"loss": 1.0}}, step=1)
print({MARKUP!r}, "\\x1b]8;;{LINK}\\x07press\\x1b]8;;\\x07", {_DOCUMENT!r})
print({LINK!r}, file=sys.stderr)
raise SystemExit({QUOTED!r})
"""


@pytest.fixture(scope="module")
def files(atom: Client, seed: Seed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Push, run, comment and describe with hostile words; returns the ids of the run's files."""
    assert seed.trained_run
    folder = tmp_path_factory.mktemp("hostile")
    for number, label in enumerate((MARKUP, QUOTED)):
        place = folder / label
        place.mkdir()
        Image.new("RGB", (8, 8), (number, 0, 0)).save(place / f"{MARKUP}.png")
    (folder / f"{QUOTED}.svg").write_text(_PICTURE)
    (folder / "page.html").write_text(_DOCUMENT)
    atom.datasets.push(folder, DATASET, PushOptions(MARKUP, "folder"))
    run = start_command(atom, MARKUP, _CODE, parameters={"note": MARKUP}, datasets={})
    atom.runs.wait(run, 240)
    atom.runs.describe(run, notes=_MARKDOWN)
    atom.http.post(f"runs/{run}/comments/", {"text": _MARKDOWN})
    wait_for(lambda: len(list(atom.runs.files(run))) == 6)
    return {"run": run, **{file["path"]: file["id"] for file in atom.runs.files(run)}}


def test_nothing_that_strangers_wrote_runs(
    signed_in_page: Page, files: dict[str, str], tmp_path: Path
) -> None:
    page = signed_in_page
    page.goto("/settings/tokens")
    watched = watch(page)
    asked: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    run = f"/runs/{files['run']}"
    shown = {
        "/": "", "/datasets": DATASET, f"/datasets/{DATASET}": MARKUP,
        f"/datasets/{DATASET}/versions": MARKUP, f"/datasets/{DATASET}/activity": "",
        "/runs": MARKUP, run: MARKUP, f"{run}?tab=config": MARKUP, f"{run}?tab=events": "",
        f"{run}?tab=comments": "press", "/notifications": MARKUP, "/settings/audit": "",
        **{f"{run}?tab=files&file={pk}": "" for path, pk in files.items() if path != "run"},
    }  # fmt: skip
    for address, text in shown.items():
        watched.clear()
        visit(page, address)
        await_quiet(page, watched)
        if text:
            expect(page.locator("body")).to_contain_text(text)
        assert page.evaluate("window.pwned") is None, address
        # A policy that had to hold something back says so.
        assert watched.problems() == [], address
        links = page.locator("a").evaluate_all("(all) => all.map((one) => one.href)")
        assert not [link for link in links if link.startswith("javascript:")], address
    assert asked == []
