"""Every module has its layer, and the documentation shows the layers that are checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from atom.settings.environment import BASE_DIR
from tests.architecture import layers

# They start and configure the others; a contract of their own forbids apps to import the launcher.
WITHOUT_LAYERS = {"dev", "settings"}
# Django finds these by their names; nothing imports them.
FREE = {"apps", "management", "migrations"}
DISTRIBUTED = {"atom_sdk", "atom_sdk.client", "atom_sdk.manifests", "atom_agent"}


def test_every_app_has_an_exhaustive_contract() -> None:
    folders = {path.parent.name for path in (BASE_DIR / "atom").glob("*/__init__.py")}
    assert set(layers.layers_inside()) - DISTRIBUTED == {
        f"atom.{app}" for app in folders - WITHOUT_LAYERS
    }
    assert set(layers.layers_inside()) >= DISTRIBUTED
    for contract in layers.contracts():
        if set(contract.get("containers", [])) & {f"atom.{app}" for app in folders}:
            assert contract["exhaustive"], contract["name"]
            assert set(contract.get("exhaustive_ignores", ())) <= FREE, contract["name"]


def test_every_capability_has_its_order() -> None:
    packages = {
        ".".join(path.parent.relative_to(BASE_DIR).parts[:3])
        for path in (BASE_DIR / "atom").glob("*/*/actions/__init__.py")
    }
    assert packages <= layers.capabilities().keys()


def test_every_module_beside_the_apps_has_its_layer() -> None:
    listed = " ".join(layers.layers_of_apps())
    names = {path.stem for path in (BASE_DIR / "atom").iterdir() if _is_module(path)}
    missing = {name for name in names - WITHOUT_LAYERS if f"`atom.{name}`" not in listed}
    assert missing == set()


@pytest.mark.parametrize("package", sorted({*layers.layers_inside(), *layers.capabilities()}))
def test_a_package_says_what_it_is_for(package: str) -> None:
    assert layers.purpose(package), f"{package} needs a docstring"


@pytest.mark.parametrize("page", [layers.ARCHITECTURE, layers.CONTRIBUTING], ids=lambda it: it.name)
def test_the_documentation_shows_the_contracts(page: Path) -> None:
    assert layers.block(page) == layers.render(page), "Run: python -m tests.architecture.layers"


def _is_module(path: Path) -> bool:
    if path.name.startswith("__"):
        return False
    return path.suffix == ".py" or (path / "__init__.py").exists()


def test_where_to_look_names_files_that_hold_the_word() -> None:
    text = (BASE_DIR / "docs/architecture.md").read_text().partition("## Where to look")[2]
    rows = re.findall(r"^\| .*\? \| `(\w+)` \| `([\w/.]+)` \|$", text, re.M)

    assert len(rows) == 10
    for word, file in rows:
        source = (BASE_DIR / file).read_text()
        assert word in source or word in file, (word, file)
