"""A push of several packs: the last ones are verified while their rows are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from atom.datasets.models import CommitRequest, Upload, Version
from atom_sdk.client import Client
from atom_sdk.client.contents import FolderContents, WritePack
from atom_sdk.client.errors import UploadRejectedError
from atom_sdk.client.progress import Silent
from atom_sdk.client.push import Push, PushOptions
from atom_sdk.packs.plan import PackLimits, SourceFile
from atom_sdk.packs.writer import PackSummary

# More packs than may be ahead of the server.
PACKS = 45
ONE_EACH = PackLimits(target_bytes=4096, own_pack_bytes=1)


class DamagedOnTheWay(FolderContents):
    """A folder of which the disk damages each pack after it was hashed."""

    @contextmanager
    def packing(self, size_bytes: int) -> Iterator[WritePack]:
        """Give what packs."""
        with super().packing(size_bytes) as write:

            def damaged(files: Sequence[SourceFile], target: Path) -> PackSummary:
                summary = write(files, target)
                with target.open("r+b") as file:
                    file.seek(summary.members[0].offset)
                    file.write(b"?")
                return summary

            yield damaged


def folder_of(tmp_path: Path, count: int) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03d}.txt").write_text(f"file {number}")
    return folder


def test_a_push_of_many_packs_has_every_file(client: Client, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, PACKS)

    pushed = client.datasets.push(folder, "many", PushOptions(limits=ONE_EACH))

    assert (pushed.packs_sent, pushed.files_sent) == (PACKS, PACKS)
    uploads = Upload.objects.filter(kind="pack")
    assert set(uploads.values_list("state", flat=True)) == {"verified"}
    assert pushed.version["file_count"] == PACKS


def test_a_pack_that_the_server_refuses_makes_no_version(client: Client, tmp_path: Path) -> None:
    contents = DamagedOnTheWay(folder_of(tmp_path, 3))
    push = Push(client.datasets, client.http, Silent(), PushOptions(limits=ONE_EACH))

    with pytest.raises(UploadRejectedError, match="is damaged"):
        push.send(contents, "damaged")

    assert set(Upload.objects.filter(kind="pack").values_list("state", flat=True)) == {
        "quarantined"
    }
    # Nothing was asked for: the rows were sent, and no commit names them.
    assert not CommitRequest.objects.exists()
    assert not Version.objects.exists()
