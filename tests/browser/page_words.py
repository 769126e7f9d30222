"""The words of a page: keys without a text, and English in the Chinese portal."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from atom.celery import app as celery

# "labeling.work.done" and its like: a key that has no text in any language. `client.datasets.push`
# is a call of the SDK, and the health page names tasks.
_RAW_KEY = re.compile(
    r"(?<![\w.])(?:nav|shell|common|errors|auth|overview|datasets|upload|item|labeling|jobs|runs|runpage"
    r"|models|people|settings|secondFactor|health|notifications|activity|keeping|compare|palette"
    r"|appearance|report|secrets|sharing|webhooks|cleaning|versioning|importing|warmup|agents|wizard|places"
    r"|startWhen|preflight|replicas|stores|clusters|clusterProfile|clusterQuotas)"
    r"(?:\.[a-zA-Z]\w*){1,4}\b"
)
celery.loader.import_default_modules()
_TASKS = frozenset(celery.tasks)
_CHROME = "nav a, button, th, h1, h2, label, [role=tab], [role=option], [role=menuitem]"


def raw_keys(page: Page) -> list[str]:
    """Return a sentence for each key of a text that the page shows in the place of its text."""
    text = page.locator("body").inner_text()
    return [f"raw text key {key}" for key in sorted(set(_RAW_KEY.findall(text)) - _TASKS)]


def english_words(page: Page) -> list[str]:
    """Return English phrases on controls and headings; names of the seed's things are data."""
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
