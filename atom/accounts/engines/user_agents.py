"""Parse browser and system out of a `User-Agent`, as names that people use."""

from __future__ import annotations

# The first match counts: most browsers also name others, for compatibility.
_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def describe(user_agent: str) -> tuple[str, str]:
    """Return browser and system; empty where unknown."""
    return _first(user_agent, _BROWSERS), _first(user_agent, _SYSTEMS)


def _first(text: str, marks: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in marks if mark in text), "")
