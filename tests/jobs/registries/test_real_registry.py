"""The registry of Debian's package `docker-registry`: what the stand-in takes, it takes too."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from atom.clusters.engines.image_references import parse_image, parse_repository
from atom.jobs.registries.errors import BaseMissing, RegistryDenied
from atom.jobs.registries.pipelines.images import Access, digest_of_base, has_image, push, tag_of
from atom.jobs.registries.pipelines.layers import LayerFile
from tests.fakes.registry import Registry, add_image
from tests.jobs.live import wait_for
from tests.jobs.registries.layers import environment, layer_of

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        shutil.which("docker-registry") is None,
        reason="the Debian package docker-registry is not installed",
    ),
]
ME = ("me", "open:sesame")
# bcrypt of ME's password.
HTPASSWD = "me:$2b$05$7ipDkRuIpRbwse6uXfeBU./TfSuABnAdcyB7cNn84mrZlyXWD7hZK\n"


def is_up(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serving(folder: Path, *, is_guarded: bool) -> Iterator[str]:
    """Serve an empty registry; give its host."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    if is_guarded:
        (folder / "htpasswd").write_text(HTPASSWD)
        config["auth"] = {"htpasswd": {"realm": "atom", "path": str(folder / "htpasswd")}}
    path = folder / "config.yml"
    path.write_text(json.dumps(config))
    process = subprocess.Popen(["docker-registry", "serve", str(path)])
    try:
        wait_for(lambda: is_up(port))
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(params=[False, True], ids=["open", "guarded"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path, is_guarded=request.param) as host:
        yield host


@pytest.fixture
def layer(tmp_path: Path) -> LayerFile:
    return layer_of(environment(tmp_path / "env"), tmp_path)


def access(server: str, pair: tuple[str, str] | None = ME) -> Access:
    target = parse_repository(f"{server}/envs")
    assert target is not None
    return Access(target, push=pair, pull=pair, networks=["127.0.0.0/8"])


def test_an_image_is_copied_there_and_grows_by_a_layer_within_it(
    server: str, layer: LayerFile
) -> None:
    to = access(server)
    with Registry() as origin:
        add_image(origin, "team/base", "1", architectures=("amd64", "arm64"))
        base = parse_image(f"{origin.host}/team/base:1")
        assert base is not None
        base = replace(base, version=digest_of_base(base, to))
        first = push(base, "x86_64", layer, to)
        assert has_image(to, first)
        assert push(base, "x86_64", layer, to) == first
    # Within one registry its layers are mounted.
    inner = parse_image(f"{server}/envs:{tag_of(first)}")
    assert inner is not None
    inner = replace(inner, version=digest_of_base(inner, to))
    assert inner.version == first
    other = replace(to, target=replace(to.target, path="more/envs"))
    second = push(inner, "x86_64", layer, other)
    assert has_image(other, second)
    assert not has_image(to, second)
    with pytest.raises(BaseMissing):
        digest_of_base(replace(inner, version="none"), to)


def test_wrong_credentials_are_told(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    with serving(tmp_path, is_guarded=True) as host:
        assert not has_image(access(host), digest)
        for pair in (None, ("me", "wrong")):
            with pytest.raises(RegistryDenied):
                has_image(access(host, pair), digest)
