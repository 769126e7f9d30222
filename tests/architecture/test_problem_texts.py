"""Every problem that a page can show has its words in each language of the portal."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import atom
from atom.core.errors import AtomError
from atom.core.field_errors import FIELD_CODES

WORDS = Path(__file__).parents[2] / "frontend" / "src" / "i18n"
CHINESE, CHINESE_FIELDS = WORDS / "problems.zh.ts", WORDS / "fields.zh.ts"
# Those of the S3 endpoint are read by S3 tools only.
LEFT_OUT = ("atom.gateway.s3",)


def subclasses(parent: type[AtomError]) -> set[type[AtomError]]:
    """Return the class and all below it."""
    return {parent}.union(*(subclasses(child) for child in parent.__subclasses__()))


def test_each_code_has_a_chinese_title_and_action() -> None:
    for module in walk_packages(atom.__path__, "atom."):
        if module.name.endswith(("errors", ".permissions", ".states", ".storage", ".waiting")):
            import_module(module.name)
    shown = [error for error in subclasses(AtomError) if error.__module__.startswith("atom.")]
    codes = {error.code for error in shown if not error.__module__.startswith(LEFT_OUT)}
    text = CHINESE.read_text("utf-8")
    translated = re.findall(r"^  (\w+): \[", text, re.MULTILINE)
    assert len(translated) == len(set(translated))
    assert set(translated) == codes


def test_each_code_of_a_field_has_its_chinese_sentence() -> None:
    given = re.compile(r'ErrorDetail\([^()]*code="(\w+)"\)|ValidationError\([^()]*code="(\w+)"')
    sources = Path(atom.__path__[0]).rglob("*.py")
    found = [match for path in sources for match in given.findall(path.read_text("utf-8"))]
    ours = {code for match in found for code in match if code}
    assert {"unique", "unknown_field", "not_future"} <= ours
    translated = re.findall(r"^  (\w+):\s", CHINESE_FIELDS.read_text("utf-8"), re.MULTILINE)
    assert len(translated) == len(set(translated))
    assert set(translated) == ours | FIELD_CODES
