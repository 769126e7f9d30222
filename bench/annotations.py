"""`python -m bench.annotations`: stored boxes and their publishing, beside two other designs.

The same pictures lie in one PostgreSQL three times: as Atom's documents (packed, with all columns
and indexes of a revision), as a row for each object, and as a JSON for each task. Publishing reads
each design in the order of paths through a server-side cursor and makes the layer `objects` of it,
with the boxes of a picture as columns in each.
Coordinates are float64 and ids have 8 bytes everywhere, indexes are counted. The rate counts the
processor's time of the publishing process, which other programs change least.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import sys
import tempfile
import time
import uuid
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from atom.dev.ports import find_free
from atom.dev.postgres import Postgres
from atom.labeling.engines.documents import decode_for_layer, encode, label_ids_of
from atom_sdk.annotations.box_columns import BOX, BoxDocument
from atom_sdk.annotations.documents import new_object_id
from atom_sdk.annotations.layer import PictureRow, row_batches
from atom_sdk.annotations.ontology import Label, Ontology
from bench.harness import RESULTS, Rounds, interleave, peak_mib, processor_speed, say
from bench.servers import running

PICTURES = 20_000
BOXES = 10
ROUNDS = 5
WIDTH, HEIGHT = 1920, 1080
_LABELS = 20
_FETCHED_ROWS = 2_000
Connection = psycopg.Connection[Any]
Document = dict[str, Any]
Pictures = Iterator[tuple[str, Document | BoxDocument]]

ATOM, OBJECT_ROWS, TASK_JSON = "Atom's documents", "a row for each object", "a JSON for each task"
# Every design has the paths of pictures beside it, which no labels change.
PICTURES_TABLE = """CREATE TABLE pictures (
    id bigint PRIMARY KEY, path text COLLATE "C" NOT NULL, width int, height int)"""
TABLES = {
    # The columns and indexes of `AnnotationRevision`.
    ATOM: """CREATE TABLE documents (
        id uuid PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(),
        work_item bigint NOT NULL, slot bigint NOT NULL, author int NOT NULL DEFAULT 1,
        lease_no int NOT NULL DEFAULT 1, parent uuid, source varchar(20) NOT NULL DEFAULT 'human',
        ontology bigint NOT NULL, label_ids smallint[] NOT NULL, n_objects int NOT NULL,
        document bytea NOT NULL, sha256 bytea NOT NULL, active_ms int NOT NULL DEFAULT 1,
        accepted bool NOT NULL DEFAULT true, idempotency_key uuid NOT NULL UNIQUE);
        CREATE INDEX ON documents (work_item, created_at); CREATE INDEX ON documents (slot);
        CREATE UNIQUE INDEX ON documents (slot, lease_no) WHERE accepted;
        CREATE INDEX ON documents (parent) WHERE parent IS NOT NULL""",
    OBJECT_ROWS: """CREATE TABLE objects (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, picture bigint NOT NULL,
        label int NOT NULL, uid bytea NOT NULL, type varchar(16) NOT NULL, z_order int NOT NULL,
        occluded bool NOT NULL, rotation float8 NOT NULL, points float8[] NOT NULL);
        CREATE INDEX ON objects (picture); CREATE INDEX ON objects (label)""",
    TASK_JSON: """CREATE TABLE tasks (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task bigint NOT NULL,
        result jsonb NOT NULL); CREATE INDEX ON tasks (task)""",
}
NAMES = {
    ATOM: ("documents",),
    OBJECT_ROWS: ("objects",),
    TASK_JSON: ("tasks",),
}


def ontology() -> Ontology:
    labels = [Label(number, f"class {number}", tools=("box",)) for number in range(_LABELS)]
    return Ontology(tuple(labels))


def documents(pictures: int) -> Iterator[tuple[str, Document]]:
    """Yield paths, in their order, and documents of `BOXES` boxes."""
    random = np.random.default_rng(7)
    for number in range(pictures):
        corners = random.random((BOXES, 4)) * [WIDTH, HEIGHT, WIDTH / 4, HEIGHT / 4]
        labels = random.integers(_LABELS, size=BOXES).tolist()
        objects = [
            {"id": new_object_id(), "label": label, "kind": "box", "box": box}
            for label, box in zip(labels, corners.tolist(), strict=True)
        ]
        sizes = {"width": WIDTH, "height": HEIGHT}
        yield f"pictures/{number:08}.jpg", {"version": 2, **sizes, "objects": objects}


def fill(connection: Connection, pictures: int) -> None:
    """Store the same documents in each design."""
    for statement in (PICTURES_TABLE, *TABLES.values()):
        connection.execute(statement)
    pages = {
        "documents (id, work_item, slot, ontology, idempotency_key, label_ids, n_objects,"
        " sha256, document)": _document_rows,
        "pictures (id, path, width, height)": _picture_rows,
        "objects (picture, label, uid, type, z_order, occluded, rotation, points)": _object_rows,
        "tasks (task, result)": _task_rows,
    }
    kept = list(documents(pictures))
    for target, rows_of in pages.items():
        with connection.cursor().copy(f"COPY {target} FROM STDIN") as copy:
            for number, (path, document) in enumerate(kept):
                for row in rows_of(number, path, document):
                    copy.write_row(row)
    connection.execute("VACUUM (FREEZE, ANALYZE)")


def _document_rows(number: int, path: str, document: Document) -> Iterator[tuple[Any, ...]]:
    labels, encoded = label_ids_of(document), encode(document)
    # Ids grow with time, as those of version 7 do; keys are random.
    keys = uuid.UUID(int=number), number, number, 1, uuid.uuid4()
    yield *keys, labels, len(document["objects"]), encoded.sha256, encoded.data


def _picture_rows(number: int, path: str, document: Document) -> Iterator[tuple[Any, ...]]:
    yield number, path, document["width"], document["height"]


def _object_rows(number: int, path: str, document: Document) -> Iterator[tuple[Any, ...]]:
    for order, item in enumerate(document["objects"]):
        uid = bytes.fromhex(item["id"])
        yield number, item["label"], uid, item["kind"], order, False, 0.0, item["box"]


def _task_rows(number: int, path: str, document: Document) -> Iterator[tuple[Any, ...]]:
    sizes = {"original_width": document["width"], "original_height": document["height"]}
    regions = [
        {
            "id": item["id"],
            "type": "rectanglelabels",
            "from_name": "label",
            "to_name": "image",
            "image_rotation": 0,
            **sizes,
            "value": {
                **dict(zip(("x", "y", "width", "height"), item["box"], strict=True)),
                "rotation": 0,
                "rectanglelabels": [f"class {item['label']}"],
            },
        }
        for item in document["objects"]
    ]
    yield number, json.dumps(regions)


def stored_documents(connection: Connection) -> Pictures:
    for path, data in _rows(connection, _with_paths("document", "documents", "work_item")):
        yield path, decode_for_layer(data)


def stored_objects(connection: Connection) -> Pictures:
    query = """SELECT path, width, height, uid, label, type, points FROM objects
        JOIN pictures ON pictures.id = picture ORDER BY path, z_order"""
    for (path, width, height), rows in groupby(_rows(connection, query), lambda it: it[:3]):
        ids, labels, kinds, boxes = zip(*(row[3:] for row in rows), strict=True)
        if set(kinds) != {BOX}:
            raise RuntimeError("the pictures have boxes alone")
        yield path, _boxes((width, height), ids, labels, boxes)


def stored_tasks(connection: Connection) -> Pictures:
    id_of = {label.name: label.id for label in ontology().labels}
    for path, regions in _rows(connection, _with_paths("result", "tasks", "task")):
        if {region["type"] for region in regions} != {"rectanglelabels"}:
            raise RuntimeError("the pictures have boxes alone")
        values = [region["value"] for region in regions]
        ids = [bytes.fromhex(region["id"]) for region in regions]
        labels = [id_of[value["rectanglelabels"][0]] for value in values]
        boxes = [(value["x"], value["y"], value["width"], value["height"]) for value in values]
        size = regions[0]["original_width"], regions[0]["original_height"]
        yield path, _boxes(size, ids, labels, boxes)


def _boxes(
    size: tuple[int, int], ids: Sequence[bytes], labels: Sequence[int], boxes: Sequence[Any]
) -> BoxDocument:
    numbers = array("d", chain.from_iterable(boxes)).tobytes()
    return BoxDocument(*size, b"".join(ids), labels, numbers)


def _with_paths(column: str, table: str, picture: str) -> str:
    return (
        f"SELECT path, {column} FROM {table} JOIN pictures ON pictures.id = {picture} ORDER BY path"
    )


def _rows(connection: Connection, query: str) -> Iterator[tuple[Any, ...]]:
    with connection.transaction(), connection.cursor(name="publish", binary=True) as cursor:
        cursor.itersize = _FETCHED_ROWS
        cursor.execute(query)
        yield from cursor


STORED: dict[str, Callable[[Connection], Pictures]] = {
    ATOM: stored_documents,
    OBJECT_ROWS: stored_objects,
    TASK_JSON: stored_tasks,
}


def publish(connection: Connection, design: str) -> list[bytes]:
    """Make the layer batch by batch and keep the digests of its rows."""
    classes = ontology()
    rows = (
        PictureRow(path, bytes(32), document, classes)
        for path, document in STORED[design](connection)
    )
    contents: list[bytes] = []
    for batch in row_batches(rows):
        contents += batch.column("content").to_pylist()
    return contents


def bytes_per_box(connection: Connection, design: str, boxes: int) -> float:
    """Return tables, indexes and TOAST, divided by the boxes."""
    sizes = [
        connection.execute("SELECT pg_total_relation_size(%s)", [name]).fetchone()
        for name in NAMES[design]
    ]
    return sum(int(row[0]) for row in sizes if row) / boxes


def measure(connection: Connection, pictures: int, rounds: int) -> str:
    """Return the results as a page."""
    say(f"annotations: {pictures:,} pictures of {BOXES} boxes")
    fill(connection, pictures)
    boxes = pictures * BOXES
    layers = {design: publish(connection, design) for design in STORED}
    if any(layer != layers[ATOM] for layer in layers.values()):
        raise RuntimeError("the designs publish different layers")
    contenders = {design: _rate(connection, design, boxes) for design in STORED}
    before = processor_speed()
    rates = interleave(contenders, rounds)
    speed = min(before, processor_speed())
    sizes = {design: bytes_per_box(connection, design, boxes) for design in STORED}
    return _page(pictures, rates, sizes, speed)


def _rate(connection: Connection, design: str, boxes: int) -> Callable[[], float]:
    def rate() -> float:
        started = time.process_time()
        publish(connection, design)
        return boxes / (time.process_time() - started)

    return rate


def _page(pictures: int, rates: Rounds, sizes: dict[str, float], speed: float) -> str:
    lines = [
        "# Annotations",
        "",
        f"{pictures:,} pictures of {BOXES} boxes, float64, ids of 8 bytes, in one PostgreSQL.",
        f"Medians of {len(rates[ATOM])} interleaved rounds; processor {speed} million additions a",
        f"second; peak memory of the process {peak_mib():,.0f} MiB. `python -m bench.annotations`",
        "",
        "| design | bytes a box, with indexes | objects a processor second | least and most |",
        "|---|---|---|---|",
    ]
    for design, values in rates.items():
        middle, low, high = statistics.median(values), min(values), max(values)
        lines.append(
            f"| {design} | {sizes[design]:.0f} | {middle:,.0f} | {low:,.0f} – {high:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=PICTURES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # PostgreSQL runs as another user when we are root.
        Path(folder).chmod(0o755)
        port = find_free(1, start=secrets.randbelow(11_000))
        server = Postgres(Path(folder) / "data", port, secrets.token_hex(16), durable=False)
        with (
            running(server.spec(), Path(folder) / "postgres.log"),
            psycopg.connect(server.url, autocommit=True) as connection,
        ):
            page = measure(connection, options.pictures, options.rounds)
    (RESULTS / "annotations.md").write_text(page)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
