"""A pack that went bad after its commit: pushing the same folder again mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom.datasets.models import Pack
from atom.datasets.packs.actions.quarantine import quarantine_pack
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, PackUnreadableError
from tests.cache.valve import valve_before_the_store
from tests.datasets.pushing import Pusher, class_files


def damage(pusher: Pusher) -> str:
    """Quarantine the only pack; return its digest."""
    pack = Pack.objects.get(project=pusher.project)
    quarantine_pack(pusher.project, pack.digest, "found damaged")
    return pack.digest


@pytest.mark.pushed
def test_pushing_the_same_folder_replaces_the_pack_and_makes_no_version(
    client: Client, pusher: Pusher, folder: Path
) -> None:
    digest = damage(pusher)
    with pytest.raises(ApiError) as refused:
        client.datasets.pull("digits@v1", folder.parent / "copy")
    assert refused.value.code == "pack_quarantined"

    result = client.datasets.push(folder, "digits")

    assert (result.version["ref"], result.unchanged) == ("v1", True)
    assert result.files_sent == len(class_files())
    assert Pack.objects.get(digest=digest).state == "verified"
    client.datasets.pull("digits@v1", folder.parent / "copy")
    assert (folder.parent / "copy" / "0" / "000.png").is_file()


@pytest.mark.pushed
def test_only_what_is_damaged_is_sent_again(client: Client, pusher: Pusher, folder: Path) -> None:
    damage(pusher)
    (folder / "more.txt").write_bytes(b"later")
    (folder / "0" / "000.png").unlink()

    result = client.datasets.push(folder, "digits")

    assert result.version["ref"] == "v2"
    assert (result.files_sent, result.removed) == (len(class_files()), 1)
    client.datasets.pull("digits@v2", folder.parent / "copy")
    assert (folder.parent / "copy" / "more.txt").read_bytes() == b"later"


@pytest.mark.pushed
def test_a_pull_names_the_pack_that_the_store_cannot_read(
    client: Client, pusher: Pusher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = Pack.objects.get(project=pusher.project).digest

    with valve_before_the_store(monkeypatch) as valve:
        valve.lost = digest.encode()
        with pytest.raises(PackUnreadableError) as failed:
            client.datasets.pull("digits@v1", folder.parent / "copy")

    assert digest in str(failed.value)
    assert "500" in str(failed.value)
    assert "atom data warm" in failed.value.hint
