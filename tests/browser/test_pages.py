"""Every page in both themes and languages: it renders, has no errors, and is accessible."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.page_checks import (
    THEMES,
    keep_picture,
    problems_at,
    violations_in_themes,
)
from tests.browser.seed import DATASET, EMPTY_PROJECT, MODEL, Seed
from tests.browser.visiting import prefer_language
from tests.browser.vitest_cover import CHECKED_BY_VITEST, is_pending
from tests.browser.watching import watch

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
    "new-run-where": lambda _: (
        f"/runs/new?workflow=image-classification&dataset={DATASET}@v1&step=2"
    ),
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
    "stores": lambda _: "/settings/stores",
    "clusters": lambda _: "/settings/clusters",
    "cluster": lambda _: "/settings/clusters/local",
    "unknown-page": lambda _: "/no/such/page",
    "empty-overview": lambda _: f"/?project={EMPTY_PROJECT}",
    "empty-datasets": lambda _: f"/datasets?project={EMPTY_PROJECT}",
    "empty-labeling": lambda _: f"/labeling?project={EMPTY_PROJECT}",
    "empty-runs": lambda _: f"/runs?project={EMPTY_PROJECT}",
    "empty-models": lambda _: f"/models?project={EMPTY_PROJECT}",
}


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
        problems += [
            f"{name}: {said}" for said in problems_at(page, watched, address(seed), language)
        ]
        problems += violations_in_themes(
            page, name, language, only_of_layout=name in CHECKED_BY_VITEST
        )
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
            keep_picture(page, f"login-{theme}-{language}")


_PREFER = """([theme, language]) => {
  localStorage.setItem('mantine-color-scheme-value', theme);
  localStorage.setItem('atom-language', language);
}"""
