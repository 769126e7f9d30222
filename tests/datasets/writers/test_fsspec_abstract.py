"""fsspec's own suite for file systems, against a branch.

All of it runs within one `buffered` block: each of its 700 writes would be a version otherwise. The
end compares what the block showed with the version that it became.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from fsspec.tests import abstract
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from atom_sdk.fs import AtomFileSystem
from tests.datasets.conftest import client_of
from tests.datasets.pushing import new_pusher

# Pushes are committed and not rolled back; the mark only makes sure that there is a database.
pytestmark = pytest.mark.django_db
KEPT = {"kept/a": b"a", "kept/b/c": b"c"}


@pytest.fixture(scope="module")
def branch(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[AtomFileSystem]:
    """A file system that buffers until the last test."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATOM_CACHE", str(tmp_path_factory.mktemp("cache")))
        server = LiveServer("127.0.0.1")
        try:
            pusher = new_pusher()
            pusher.push(KEPT)
            with client_of(server.url, pusher) as client:
                config = client.config
            fs = AtomFileSystem(config.url, config.token, config.project)
            root = f"{pusher.project.slug}/digits@main"
            with fs.buffered():
                yield fs
                fs.pipe(f"{root}/kept/a", b"changed")
                fs.mv(f"{root}/kept/b", f"{root}/moved", recursive=True)
                shown = {path: fs.cat_file(path) for path in fs.find(root)}
            assert {path: fs.cat_file(path) for path in fs.find(root)} == shown
            assert shown[f"{root}/moved/c"] == b"c"
            assert pusher.get("versions/main/")["ref"] == "v2"
            fs.close()
        finally:
            server.stop()
            call_command("flush", verbosity=0, interactive=False)


class _Branch(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self, branch: AtomFileSystem) -> AtomFileSystem:
        return branch

    @pytest.fixture
    def fs_path(self, fs: AtomFileSystem) -> str:
        return f"{fs.ls('', detail=False)[0]}/digits@main/suite"

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False

    @pytest.fixture
    def local_path(self, tmp_path: Path) -> str:
        return str(tmp_path)


class TestCopy(_Branch, abstract.AbstractCopyTests):  # type: ignore[misc]
    pass


class TestGet(_Branch, abstract.AbstractGetTests):  # type: ignore[misc]
    pass


class TestPut(_Branch, abstract.AbstractPutTests):  # type: ignore[misc]
    pass


class TestOpen(_Branch, abstract.AbstractOpenTests):  # type: ignore[misc]
    pass


class TestPipe(_Branch, abstract.AbstractPipeTests):  # type: ignore[misc]
    pass
