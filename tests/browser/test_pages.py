"""Every page in both themes and languages: it renders, has no errors, and is accessible."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from atom.celery import app as celery
from tests.browser.accessibility import violations
from tests.browser.seed import DATASET, EMPTY_PROJECT, MODEL, Seed
from tests.browser.visiting import await_true, prefer_language, visit
from tests.browser.vitest_cover import CHECKED_BY_VITEST, is_pending
from tests.browser.watching import Watched, await_quiet, watch

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = ("en", "zh")
# Every other browser test reads English pages; here they would only be pictured.
LANGUAGES_CHECKED = LANGUAGES if "ATOM_PICTURES" in os.environ else ("zh",)
PAGES: dict[str, Callable[[Seed], str]] = {
    "overview": lambda _: "/",
    "notifications": lambda _: "/notifications",
    "datasets": lambda _: "/datasets",
    "deleted-datasets": lambda _: "/deleted-datasets",
    "sources": lambda _: "/sources",
    "dataset": lambda _: f"/datasets/{DATASET}",
    "dataset-folder": lambda _: f"/datasets/{DATASET}?ref=v1&path=circle/",
    "item": lambda _: f"/datasets/{DATASET}/item?ref=v1&path=circle/&item=circle/002.png&at=0",
    "uploads": lambda _: "/uploads",
    "versions": lambda _: f"/datasets/{DATASET}/versions",
    "diff": lambda _: f"/datasets/{DATASET}/diff?from=v1&to=v2",
    "cleaning": lambda _: f"/datasets/{DATASET}/cleaning",
    "warm-up": lambda _: f"/datasets/{DATASET}/warm-up?ref=v1",
    "warm-plans": lambda _: "/warm-plans",
    "import": lambda _: f"/datasets/{DATASET}/import?ref=v1",
    "labels": lambda _: f"/datasets/{DATASET}/labels",
    "labels-import": lambda _: f"/datasets/{DATASET}/labels?act=import",
    "labels-export": lambda _: f"/datasets/{DATASET}/labels?ref=v1&act=export",
    "keeping": lambda _: f"/datasets/{DATASET}/keeping",
    "activity": lambda _: f"/datasets/{DATASET}/activity",
    "labeling": lambda _: "/labeling",
    "new-task": lambda _: "/labeling?create=yes",
    "task-open": lambda seed: f"/labeling/{seed.open_task}",
    "task-published": lambda seed: f"/labeling/{seed.published_task}",
    "work": lambda seed: f"/labeling/{seed.open_task}/work",
    "audit": lambda seed: f"/labeling/{seed.open_task}/audit",
    "runs": lambda _: "/runs",
    "new-run": lambda _: "/runs/new",
    "new-run-parameters": lambda _: f"/runs/new?workflow=image-classification&dataset={DATASET}@v1",
    "queue": lambda _: "/runs/queue",
    "run-retention": lambda _: "/runs/retention",
    "compare": lambda seed: f"/runs/compare?runs={seed.trained_run},{seed.failed_run}",
    "run-log": lambda seed: f"/runs/{seed.trained_run}",
    "run-curves": lambda seed: f"/runs/{seed.trained_run}?tab=curves",
    "run-system": lambda seed: f"/runs/{seed.trained_run}?tab=system",
    "run-files": lambda seed: f"/runs/{seed.trained_run}?tab=files",
    "run-events": lambda seed: f"/runs/{seed.trained_run}?tab=events",
    "run-config": lambda seed: f"/runs/{seed.trained_run}?tab=config",
    "run-failed": lambda seed: f"/runs/{seed.failed_run}",
    "models": lambda _: "/models",
    "model": lambda _: f"/models/{MODEL}",
    "model-version": lambda _: f"/models/{MODEL}/versions/1",
    "model-lineage": lambda _: f"/models/{MODEL}/versions/1?tab=lineage",
    "model-evaluation": lambda _: f"/models/{MODEL}/versions/1?tab=evaluations",
    "tokens": lambda _: "/settings/tokens",
    "new-token": lambda _: "/settings/tokens?create=yes",
    "s3-keys": lambda _: "/settings/s3-keys",
    "new-s3-key": lambda _: "/settings/s3-keys?create=yes",
    "secrets": lambda _: "/settings/secrets",
    "webhooks": lambda _: "/settings/webhooks",
    "run-shares": lambda _: "/settings/run-shares",
    "garbage": lambda _: "/settings/garbage",
    "notification-settings": lambda _: "/settings/notifications",
    "audit-log": lambda _: "/settings/audit",
    "members": lambda _: "/settings/members",
    "invitations": lambda _: "/settings/members?tab=invitations",
    "units": lambda _: "/settings/units",
    "people": lambda _: "/settings/people",
    "account": lambda _: "/settings/account",
    "health": lambda _: "/settings/health",
    "clusters": lambda _: "/settings/clusters",
    "cluster": lambda _: "/settings/clusters/local",
    "unknown-page": lambda _: "/no/such/page",
    "empty-overview": lambda _: f"/?project={EMPTY_PROJECT}",
    "empty-datasets": lambda _: f"/datasets?project={EMPTY_PROJECT}",
    "empty-labeling": lambda _: f"/labeling?project={EMPTY_PROJECT}",
    "empty-runs": lambda _: f"/runs?project={EMPTY_PROJECT}",
    "empty-models": lambda _: f"/models?project={EMPTY_PROJECT}",
}
# "labeling.work.done" and its like: a key that has no text in any language. `client.datasets.push`
# is a call of the SDK, and the health page names tasks.
_RAW_KEY = re.compile(
    r"(?<![\w.])(?:nav|shell|common|errors|auth|overview|datasets|upload|item|labeling|jobs|runs|runpage"
    r"|models|people|settings|secondFactor|health|notifications|activity|keeping|compare|palette"
    r"|appearance|report|secrets|sharing|webhooks|cleaning|versioning|importing|warmup|agents)"
    r"(?:\.[a-zA-Z]\w*){1,4}\b"
)
celery.loader.import_default_modules()
TASKS = frozenset(celery.tasks)
_CHROME = "nav a, button, th, h1, h2, label, [role=tab], [role=option], [role=menuitem]"


@pytest.mark.parametrize("language", LANGUAGES_CHECKED)
def test_every_page_renders_without_errors_and_is_accessible_in_both_themes(
    signed_in_page: Page, seed: Seed, language: str
) -> None:
    page = signed_in_page
    prefer_language(page, language)
    page.goto("/settings/tokens")
    watched = watch(page)
    problems: list[str] = []
    for name, address in PAGES.items():
        problems += [f"{name}: {said}" for said in _problems(page, watched, name, address(seed))]
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)
            await_true(page, COLORS_STAND)
            said_of_it = violations(
                page,
                only_of_colors=theme != THEMES[0],
                only_of_layout=name in CHECKED_BY_VITEST,
            )
            problems += [f"{name}, {theme}: {said}" for said in said_of_it]
            _keep_picture(page, f"{name}-{theme}-{language}")
    assert not problems, "\n".join(problems)


def test_vitest_checks_the_pages_that_are_left_to_it() -> None:
    assert set(CHECKED_BY_VITEST) <= set(PAGES)
    unasked = [name for name, of in CHECKED_BY_VITEST.items() if not is_pending(*of)]
    assert unasked == []


def test_the_sign_in_page_is_accessible_in_every_theme_and_language(page: Page) -> None:
    page.goto("/login")
    for theme in THEMES:
        for language in LANGUAGES:
            page.evaluate(_PREFER, [theme, language])
            page.reload()
            expect(page.get_by_role("textbox").first).to_be_visible()
            assert violations(page) == [], f"{theme} {language}"
            _keep_picture(page, f"login-{theme}-{language}")


# Some controls of Mantine change their colours slowly, whatever a person prefers.
COLORS_STAND = "document.getAnimations().every((one) => !(one instanceof CSSTransition))"
_PREFER = """([theme, language]) => {
  localStorage.setItem('mantine-color-scheme-value', theme);
  localStorage.setItem('atom-language', language);
}"""


def _problems(page: Page, watched: Watched, name: str, address: str) -> list[str]:
    watched.clear()
    visit(page, address)
    _settle(page, watched)
    language = page.evaluate("localStorage.getItem('atom-language')")
    text = page.locator("body").inner_text()
    raw = set(_RAW_KEY.findall(text)) - TASKS
    return [
        *watched.problems(),
        *(f"raw text key {found}" for found in sorted(raw)),
        *(_english_words(page) if language == "zh" else []),
    ]


def _settle(page: Page, watched: Watched) -> None:
    """Wait until the page shows something and no longer loads."""
    await_quiet(page, watched)
    expect(page.locator("h1, h2, [role=alert]").first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def _english_words(page: Page) -> list[str]:
    """English phrases on controls and headings; names of the seed's things are data."""
    data = (
        "Administrator",
        "Name the shapes",
        "Sort the rest",
        "train shapes",
        "broken settings",
        "first sixty",
        "a few changes",
    )
    found = []
    for text in page.locator(_CHROME).all_inner_texts():
        rest = text
        for known in data:
            rest = rest.replace(known, "")
        if re.search(r"[A-Za-z]{3,} [a-z]{3,}", rest):
            found.append(f"English in the Chinese portal: {text!r}")
    return found


def _keep_picture(page: Page, name: str) -> None:
    """Write a picture when ATOM_PICTURES names a folder."""
    folder = os.environ.get("ATOM_PICTURES")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
