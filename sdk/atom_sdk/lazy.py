"""Packages whose names load their module when they are used: the command line starts sooner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names_of(package: str, modules: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`, given the names that each of its modules defines."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
