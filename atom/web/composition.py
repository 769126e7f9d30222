"""Finds what the applications offer by convention: `api.urls`, `routing`, `tasks`."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from django.conf import settings


def modules_of_apps(name: str) -> Iterator[ModuleType]:
    """Yield `atom.<app>.<name>` of each application that has it, in the order of the layers.

    An import error inside such a module is raised, never taken for absence.
    """
    for app in settings.ATOM_APPS:
        if _exists(f"{app}.{name}"):
            yield import_module(f"{app}.{name}")


def _exists(dotted: str) -> bool:
    parent, _, _ = dotted.rpartition(".")
    if parent.count(".") > 1 and not _exists(parent):
        return False
    return find_spec(dotted) is not None
