"""A client's side of a push, over the real REST API and presigned addresses."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from PIL import Image
from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.core import storage
from atom.datasets.keys import staging_key
from atom.datasets.models import Branch, CommitRequest, Dataset, Pack, Upload
from atom.datasets.packs.actions.uploads import PART_BYTES, UploadRequest
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.packs.engines.images import media_type_of
from atom.datasets.states import COMMIT_STATES
from atom_sdk.packs import PackMember, PackWriter
from tests.factories.accounts import make_member, make_project

# Plain HTTP, and one client: loading the certificates takes longer than all the rest.
_to_store = httpx.Client(trust_env=False, verify=False)


class BytesSink:
    """Collects a pack in memory."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: memoryview, /) -> None:
        self.data += data


@dataclass(frozen=True)
class MadePack:
    """A pack in memory."""

    data: bytes
    digest: str
    members: tuple[PackMember, ...]


def make_pack(files: Mapping[str, bytes]) -> MadePack:
    """Pack files by path."""
    sink = BytesSink()
    with PackWriter(sink) as writer:
        for path in sorted(files, key=str.encode):
            writer.add_bytes(path, files[path])
        summary = writer.close()
    return MadePack(bytes(sink.data), summary.digest.hex(), summary.members)


def png(seed: int = 0, size: int = 8) -> bytes:
    """Return a small grey PNG that differs by seed."""
    pixels = bytes((zlib.crc32(f"{seed}-{i}".encode()) & 0xFF) for i in range(size * size))
    out = io.BytesIO()
    Image.frombytes("L", (size, size), pixels).save(out, "PNG")
    return out.getvalue()


def put_rows(pack: MadePack) -> list[dict[str, Any]]:
    """Return the change rows that put every member of a pack."""
    return [
        {
            "op": "put",
            "path": member.path,
            "size": member.size,
            "digest": member.digest,
            "media_type": media_type_of(member.path),
            "attributes": None,
            "pack": bytes.fromhex(pack.digest),
            "offset": member.offset,
        }
        for member in pack.members
    ]


def delete_row(path: str) -> dict[str, Any]:
    """Return the change row that deletes a path."""
    return {"op": "delete", "path": path}


CHANGES_SCHEMA = pa.schema(
    [
        ("op", pa.string()),
        ("path", pa.string()),
        ("size", pa.int64()),
        ("digest", pa.binary(32)),
        ("media_type", pa.string()),
        ("attributes", pa.string()),
        ("pack", pa.binary(32)),
        ("offset", pa.int64()),
        ("link", pa.string()),
        ("label", pa.string()),
    ]
)


def changes_file(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a changes file."""
    columns = [{name: row.get(name) for name in CHANGES_SCHEMA.names} for row in rows]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(columns, schema=CHANGES_SCHEMA), out)
    return out.getvalue()


@dataclass
class Pusher:
    """Pushes to one dataset as one user."""

    project: Project
    user: User
    name: str = "digits"
    client: APIClient = field(default_factory=APIClient)

    def __post_init__(self) -> None:
        self.client.force_authenticate(self.user)

    @property
    def base(self) -> str:
        """Return the address of the dataset."""
        return f"/api/v1/projects/{self.project.slug}/datasets/{self.name}/"

    def create(self) -> Pusher:
        """Make the dataset."""
        answer = self.post(f"/api/v1/projects/{self.project.slug}/datasets/", {"name": self.name})
        assert answer["name"] == self.name
        return self

    def get(self, address: str, /, **params: Any) -> dict[str, Any]:
        """GET below the dataset; the answer must be a success."""
        answer = self.client.get(self.base + address, params)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def post(self, path: str, body: Any) -> dict[str, Any]:
        """POST; the answer must be a success."""
        address = path if path.startswith("/") else self.base + path
        answer = self.client.post(address, body)
        assert answer.status_code < 300, answer.content
        return dict(answer.json())

    def begin(self, data: bytes, kind: str = "pack", digest: str = "") -> dict[str, Any]:
        """Begin or resume the upload of `data`, under a false digest if one is given."""
        digest = digest or blake3(data).hexdigest()
        return self.post("uploads/", {"kind": kind, "digest": digest, "size_bytes": len(data)})

    def send_part(self, upload: dict[str, Any], number: int, data: bytes) -> dict[str, Any]:
        """PUT one part to its presigned address."""
        urls = self.post(f"uploads/{upload['id']}/parts/", {"numbers": [number]})["urls"]
        size = upload["part_size_bytes"]
        piece = data[(number - 1) * size : number * size]
        answer = _to_store.put(urls[str(number)], content=piece)
        answer.raise_for_status()
        return {"n": number, "etag": answer.headers["etag"].strip('"')}

    def upload(self, data: bytes, kind: str = "pack", digest: str = "") -> dict[str, Any]:
        """Send everything and return the upload after verification."""
        upload = self.begin(data, kind, digest)
        if upload["state"] != "open":
            return upload
        count = max(1, -(-len(data) // upload["part_size_bytes"]))
        parts = [self.send_part(upload, number, data) for number in range(1, count + 1)]
        self.post(f"uploads/{upload['id']}/complete/", {"parts": parts})
        return self.get(f"uploads/{upload['id']}/")

    def stage(self, data: bytes, kind: str = "pack") -> Upload:
        """Have `data` verified as `upload` does, without a client's ten requests.

        For what a test needs before it begins; what it is about goes over the API.
        """
        dataset = Dataset.objects.select_related("project").get(
            project=self.project, name=self.name
        )
        request = UploadRequest(kind, blake3(data).hexdigest(), len(data))
        if kind == "pack" and not _announced(dataset, request):
            return Upload.objects.get(pk=self.upload(data)["id"])
        upload = Upload(
            dataset=dataset,
            kind=request.kind,
            digest=request.digest,
            size_bytes=request.size_bytes,
            part_size_bytes=PART_BYTES,
            state="uploaded",
            created_by=self.user,
        )
        upload.key = staging_key(upload.pk)
        upload.save(force_insert=True)
        storage.objects().put(upload.key, data)
        return verify_upload(upload.pk)

    def commit(self, rows: Iterable[Mapping[str, Any]], **body: Any) -> dict[str, Any]:
        """Commit changes on the present head; returns the request at its end."""
        changes = self.stage(changes_file(rows), "changes")
        if "expected_head" not in body:
            body["expected_head"] = self.head(body.get("branch", "main"))
        request = self.post("commits/", {"changes_upload": changes.pk, **body})
        is_over = not COMMIT_STATES[request["state"]]
        return request if is_over else self.get(f"commits/{request['id']}/")

    def head(self, branch: str = "main") -> str | None:
        """Return the commit at the head of a branch."""
        # By the dataset that is there: one of the same name may have been deleted before it.
        dataset = Dataset.objects.get(project=self.project, name=self.name)
        found = Branch.objects.select_related("head").get(dataset=dataset, name=branch)
        return found.head.commit if found.head else None

    def push(self, files: Mapping[str, bytes], **body: Any) -> dict[str, Any]:
        """Pack, upload and commit files; returns the version."""
        pack = make_pack(files)
        assert self.stage(pack.data).state == "verified"
        request = self.commit(put_rows(pack), **body)
        assert request["state"] == "published", request
        return dict(request["version"])


def _announced(dataset: Dataset, request: UploadRequest) -> bool:
    """Make the pack known; False when the project knew it."""
    _, is_new = Pack.objects.get_or_create(
        project=dataset.project,
        digest=request.digest,
        defaults={"size_bytes": request.size_bytes},
    )
    return is_new


def new_pusher() -> Pusher:
    """Return a researcher of a new project with a dataset `digits` without versions."""
    project = make_project()
    return Pusher(project, make_member(project, "researcher")).create()


def class_files(classes: int = 3, per_class: int = 4) -> dict[str, bytes]:
    """Return PNG files in class folders."""
    return {
        f"{label}/{index:03d}.png": png(label * 1000 + index)
        for label in range(classes)
        for index in range(per_class)
    }


def prepared_commit(pusher: Pusher, files: dict[str, bytes]) -> CommitRequest:
    """Return a commit request that no worker has touched."""
    pack = make_pack(files)
    pusher.stage(pack.data)
    upload = pusher.stage(changes_file(put_rows(pack)), "changes")
    return CommitRequest.objects.create(
        dataset=upload.dataset,
        branch="main",
        expected_head=pusher.head() or "",
        changes_upload=upload,
        created_by=pusher.user,
    )


def corrupted(pack: MadePack, offset: int) -> bytes:
    """Return the pack's bytes with one bit turned."""
    data = bytearray(pack.data)
    data[offset] ^= 1
    return bytes(data)
