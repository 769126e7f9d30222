"""The import contracts of `pyproject.toml` as the tables of the documentation.

`python -m tests.architecture.layers` writes them anew.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

from atom.settings.environment import BASE_DIR

BEGIN, END = "<!-- layers: begin -->", "<!-- layers: end -->"
ARCHITECTURE = BASE_DIR / "docs" / "architecture.md"
CONTRIBUTING = BASE_DIR / "CONTRIBUTING.md"
# Packages that have a folder and a pyproject.toml of their own.
DISTRIBUTIONS = {"atom_sdk": "sdk", "atom_agent": "agent"}


def contracts() -> list[dict[str, Any]]:
    """Return the contracts of import-linter about layers."""
    settings = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
    listed = settings["tool"]["importlinter"]["contracts"]
    return [contract for contract in listed if contract["type"] == "layers"]


def layers_of_apps() -> list[str]:
    """Return a row for each layer of apps, the highest first."""
    contract = next(one for one in contracts() if "containers" not in one)
    return [_names(layer) for layer in contract["layers"]]


def layers_inside() -> dict[str, list[str]]:
    """Return the layers of each app and of the SDK's packages, the highest first."""
    return {
        container: [_names(layer) for layer in contract["layers"]]
        for contract in contracts()
        for container in contract.get("containers", [])
        if contract.get("exhaustive")
    }


def capabilities() -> dict[str, list[str]]:
    """Return the order inside a capability, by the name of the capability's package."""
    return {
        container: [_names(layer) for layer in contract["layers"]]
        for contract in contracts()
        for container in contract.get("containers", [])
        if not contract.get("exhaustive")
    }


def purpose(package: str) -> str:
    """Return the docstring of a package in one line."""
    root = BASE_DIR / DISTRIBUTIONS.get(package.split(".")[0], ".")
    source = root.joinpath(*package.split("."), "__init__.py").read_text()
    return " ".join((ast.get_docstring(ast.parse(source)) or "").split())


def render(path: Path) -> str:
    """Return what a page shows between its marks."""
    rows = [f"{at}. {layer}" for at, layer in enumerate(layers_of_apps(), 1)]
    if path == CONTRIBUTING:
        return "\n".join(rows)
    for package, layers in layers_inside().items():
        steps = [f"{at}. {layer}" for at, layer in enumerate(layers, 1)]
        rows += ["", f"### `{package}`", "", purpose(package), "", *steps]
        rows += _rooms(f"{package}.")
    return "\n".join(rows)


def _rooms(prefix: str) -> list[str]:
    """Return what a page shows of an app's capabilities."""
    rooms = {name: order for name, order in capabilities().items() if name.startswith(prefix)}
    if not rooms:
        return []
    order = ", ".join(next(iter(rooms.values())))
    purposes = [f"- `{name.removeprefix(prefix)}`: {purpose(name)}" for name in sorted(rooms)]
    return ["", f"Its capabilities, each from the top of {order} to the end:", "", *purposes]


def block(path: Path) -> str:
    """Return what stands between the marks of a page. Raises ValueError without marks."""
    text = path.read_text()
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def _names(layer: str) -> str:
    """Write a layer's modules as code, apart."""
    return ", ".join(f"`{name}`" for name in re.findall(r"[A-Za-z_.0-9]+", layer))


if __name__ == "__main__":
    for page in (ARCHITECTURE, CONTRIBUTING):
        text = page.read_text()
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        page.write_text(f"{text[:start]}\n{render(page)}\n{text[end:]}")
