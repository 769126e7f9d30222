"""A check and its result, the same for a client and for a server's machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Check:
    """A checked part and its state; `action` is the next step where it is not well."""

    name: str
    level: Level
    detail: str
    action: str = ""


def ok(name: str, detail: str) -> Check:
    """Return a check without a complaint."""
    return Check(name, "ok", detail)


def warning(name: str, detail: str, action: str) -> Check:
    """Return a check of a thing that some work needs."""
    return Check(name, "warning", detail, action)


def error(name: str, detail: str, action: str) -> Check:
    """Return a check of a thing that nothing works without."""
    return Check(name, "error", detail, action)


def run_all(looks: Sequence[Callable[[], Iterable[Check]]]) -> Iterator[Check]:
    """Yield the results of all looks; one that breaks is a result too."""
    for look in looks:
        try:
            yield from look()
        except Exception as problem:  # a defect of one check must not hide the others
            name = look.__name__.strip("_").replace("_", " ")
            said = f"The check itself failed: {type(problem).__name__}: {problem}"
            yield error(name, said, "Report it, with the output of atom doctor --json.")


def exit_code(checks: Iterable[Check]) -> int:
    """Return 1 if any check is an error, else 0."""
    return int(any(check.level == "error" for check in checks))


def as_json(checks: Iterable[Check]) -> dict[str, Any]:
    """Return the checks as `--json` prints them, the worst level first."""
    rows = [asdict(check) for check in checks]
    found = {row["level"] for row in rows}
    worst = next((one for one in ("error", "warning") if one in found), "ok")
    return {"level": worst, "checks": rows}


def lines(checks: Iterable[Check]) -> Iterator[str]:
    """Yield what people read: a line for each check, its next step below it."""
    for check in checks:
        yield f"{check.level:<8} {check.name}: {check.detail}"
        if check.action:
            yield f"{'':<8} → {check.action}"
