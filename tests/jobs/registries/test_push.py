"""Images are pushed to a registry that implements the distribution API strictly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from atom.clusters.engines.image_references import (
    ImageReference,
    Repository,
    parse_image,
    parse_repository,
)
from atom.jobs.registries.errors import (
    BaseDenied,
    BaseMissing,
    BaseUnfit,
    RegistryAway,
    RegistryDenied,
    RegistryError,
    RegistryForbidden,
    RegistryFull,
    RegistryRefused,
)
from atom.jobs.registries.pipelines.images import Access, digest_of_base, has_image, push, tag_of
from atom.jobs.registries.pipelines.layers import LayerFile
from atom.jobs.registries.pipelines.tokens import parse_challenge
from tests.fakes.registry import Registry, add_image, read_image
from tests.fakes.registry.server import Account
from tests.jobs.registries.layers import environment, layer_of

ME = ("me", "open:sesame")
LOCAL = ["127.0.0.0/8", "::1/128"]


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as served:
        yield served


@pytest.fixture
def other() -> Iterator[Registry]:
    with Registry() as served:
        yield served


@pytest.fixture
def layer(tmp_path: Path) -> LayerFile:
    return layer_of(environment(tmp_path / "env"), tmp_path)


def image(registry: Registry, name: str) -> ImageReference:
    found = parse_image(f"{registry.host}/{name}")
    assert found is not None
    return found


def access(registry: Registry, **more: Any) -> Access:
    target = parse_repository(f"{registry.host}/envs")
    assert target is not None
    return Access(target, **{"push": None, "pull": None, "networks": LOCAL, **more})


def pinned(base: ImageReference, to: Access) -> ImageReference:
    return replace(base, version=digest_of_base(base, to))


def test_the_image_is_the_base_with_one_more_layer(registry: Registry, layer: LayerFile) -> None:
    named = add_image(registry, "team/base", "1")
    to = access(registry)
    base = pinned(image(registry, "team/base:1"), to)
    assert base.version == named
    digest = push(base, "x86_64", layer, to)
    assert has_image(to, digest)
    assert not has_image(to, named)
    _, before, _ = read_image(registry, "team/base", "1")
    manifest, config, layers = read_image(registry, "envs", digest)
    assert config["config"] == before["config"]
    assert len(layers) == 2
    assert "etc/machine" in layers[0]
    assert {"atom/env/bin/tool", "atom/runner/runner.pyz"} <= layers[1].keys()
    assert registry.store.repository("envs").tags == {tag_of(digest): digest}
    # Within one registry the layers of the base are taken over.
    assert registry.pushed("GET", "team/base/blobs") == [
        f"GET /v2/team/base/blobs/{before_config(registry)}"
    ]
    assert manifest["layers"][0]["digest"] in registry.store.repository("envs").blobs


def before_config(registry: Registry) -> str:
    _, content = registry.store.manifest("team/base", "1")
    digest: str = json.loads(content)["config"]["digest"]
    return digest


def test_the_same_input_has_the_same_digest_and_is_pushed_once(
    registry: Registry, layer: LayerFile
) -> None:
    add_image(registry, "team/base", "1")
    to = access(registry)
    base = pinned(image(registry, "team/base:1"), to)
    digest = push(base, "x86_64", layer, to)
    registry.seen.clear()
    assert push(base, "x86_64", layer, to) == digest
    assert registry.pushed("PUT", "") + registry.pushed("POST", "") == []
    # Another base needs no second copy of the environment's layer.
    add_image(registry, "team/base", "2", payload=b"new")
    newer = pinned(image(registry, "team/base:2"), to)
    assert push(newer, "x86_64", layer, to) != digest
    uploads = registry.pushed("PUT", "/blobs/uploads/")
    assert len(uploads) == 1, "the configuration alone"


@pytest.mark.parametrize("docker", [False, True])
def test_an_index_is_resolved_to_the_platform_of_the_nodes(
    registry: Registry, layer: LayerFile, docker: bool
) -> None:
    add_image(registry, "base", "1", architectures=("arm64", "amd64"), docker=docker)
    to = access(registry)
    base = pinned(image(registry, "base:1"), to)
    for machine, architecture in (("x86_64", "amd64"), ("aarch64", "arm64")):
        manifest, config, _ = read_image(registry, "envs", push(base, machine, layer, to))
        assert config["architecture"] == architecture
        assert ("docker" in manifest["layers"][1]["mediaType"]) is docker
    with pytest.raises(BaseUnfit) as caught:
        push(base, "riscv64", layer, to)
    assert caught.value.params == {"image": f"{registry.host}/base", "machine": "riscv64"}


@pytest.mark.parametrize("redirects", [False, True])
def test_layers_of_another_registry_are_copied(
    registry: Registry, other: Registry, layer: LayerFile, redirects: bool
) -> None:
    other.redirects = redirects
    add_image(other, "team/base", "1")
    to = access(registry)
    digest = push(pinned(image(other, "team/base:1"), to), "x86_64", layer, to)
    assert len(read_image(registry, "envs", digest)[2]) == 2
    assert bool(other.pushed("GET", "/store/")) is redirects
    assert other.pushed("POST", "") == []


def guard(registry: Registry, auth: Literal["basic", "bearer"]) -> None:
    registry.auth = auth
    registry.accounts["me"] = Account(ME[1], pulls={"team/base"}, pushes={"envs"})
    registry.accounts["reader"] = Account("r", pulls={"team/base", "envs"})


@pytest.mark.parametrize("auth", ["basic", "bearer"])
@pytest.mark.parametrize("redirects", [False, True])
def test_credentials_are_given_as_the_registry_asks_for_them(
    registry: Registry, layer: LayerFile, auth: Literal["basic", "bearer"], redirects: bool
) -> None:
    guard(registry, auth)
    registry.redirects = redirects
    add_image(registry, "team/base", "1")
    to = access(registry, push=ME, pull=ME)
    digest = push(pinned(image(registry, "team/base:1"), to), "x86_64", layer, to)
    assert len(read_image(registry, "envs", digest)[2]) == 2
    mounts = [one for one in registry.seen if one == "POST /v2/envs/blobs/uploads/"]
    # The base's layer, the environment's layer and the configuration.
    assert len(mounts) == 3
    assert len(registry.pushed("PUT", "/blobs/uploads/")) == 2


def test_tokens_that_end_in_between_are_renewed(registry: Registry, layer: LayerFile) -> None:
    guard(registry, "bearer")
    registry.uses_of_token = 1
    add_image(registry, "team/base", "1")
    to = access(registry, push=ME, pull=ME)
    digest = push(pinned(image(registry, "team/base:1"), to), "x86_64", layer, to)
    assert len(read_image(registry, "envs", digest)[2]) == 2


@pytest.mark.parametrize("auth", ["basic", "bearer"])
@pytest.mark.parametrize("pair", [None, ("me", "wrong"), ("nobody", "x"), ("reader", "r")])
def test_a_registry_that_does_not_take_the_credentials_is_named(
    registry: Registry,
    layer: LayerFile,
    auth: Literal["basic", "bearer"],
    pair: tuple[str, str] | None,
) -> None:
    guard(registry, auth)
    add_image(registry, "team/base", "1")
    to = access(registry, push=pair, pull=ME)
    with pytest.raises(RegistryDenied) as caught:
        push(pinned(image(registry, "team/base:1"), to), "x86_64", layer, to)
    named = caught.value.params
    assert (named["registry"], named["repository"]) == (registry.host, "envs")
    assert "sesame" not in str(caught.value)
    assert registry.store.repository("envs").blobs == {}


@pytest.mark.parametrize("pair", [None, ("me", "wrong")])
def test_a_private_base_is_read_with_its_own_credentials_alone(
    registry: Registry, pair: tuple[str, str] | None
) -> None:
    guard(registry, "bearer")
    add_image(registry, "team/base", "1")
    with pytest.raises(BaseDenied) as caught:
        digest_of_base(image(registry, "team/base:1"), access(registry, push=ME, pull=pair))
    assert caught.value.params == {"image": f"{registry.host}/team/base"}


def test_a_public_base_needs_no_credentials(registry: Registry) -> None:
    guard(registry, "bearer")
    registry.public.add("team/base")
    named = add_image(registry, "team/base", "1")
    assert digest_of_base(image(registry, "team/base:1"), access(registry)) == named


@pytest.mark.parametrize("name", ["team/base:2", "team/none:1", f"team/base@sha256:{'0' * 64}"])
def test_a_base_that_is_not_there_is_named(registry: Registry, name: str) -> None:
    add_image(registry, "team/base", "1")
    with pytest.raises(BaseMissing) as caught:
        digest_of_base(image(registry, name), access(registry))
    assert (
        caught.value.params["image"]
        == f"{registry.host}/{name.partition(':')[0].partition('@')[0]}"
    )


def test_a_quota_that_is_used_up_is_told_with_the_registrys_words(
    registry: Registry, layer: LayerFile
) -> None:
    add_image(registry, "team/base", "1")
    registry.store.quota_bytes = 100
    to = access(registry)
    with pytest.raises(RegistryFull) as caught:
        push(pinned(image(registry, "team/base:1"), to), "x86_64", layer, to)
    assert "upper limit" in caught.value.params["said"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(429, RegistryAway), (500, RegistryAway), (503, RegistryAway), (413, RegistryFull),
     (507, RegistryFull), (403, BaseDenied), (400, RegistryRefused), (302, RegistryRefused)],
)  # fmt: skip
def test_an_answer_of_a_registry_says_whether_to_ask_again(
    registry: Registry, status: int, error: type[RegistryError]
) -> None:
    registry.fault = status
    with pytest.raises(error):
        digest_of_base(image(registry, "team/base:1"), access(registry))


def test_a_registry_that_does_not_answer_is_away() -> None:
    with Registry() as gone:
        base, to = image(gone, "base:1"), access(gone)
    with pytest.raises(RegistryAway) as caught:
        digest_of_base(base, to)
    assert caught.value.params["registry"] == gone.host


def test_a_base_may_not_lead_into_a_private_network(registry: Registry, other: Registry) -> None:
    add_image(other, "team/base", "1")
    closed = access(registry, networks=())
    with pytest.raises(RegistryForbidden):
        digest_of_base(image(other, "team/base:1"), closed)
    assert other.seen == []
    # The administrator has named this one.
    named = add_image(registry, "team/base", "1")
    assert digest_of_base(image(registry, "team/base:1"), closed) == named


def test_metadata_of_a_cloud_is_never_asked(registry: Registry) -> None:
    target = Repository("169.254.169.254", "latest", is_plain=True)
    to = replace(access(registry), target=target)
    with pytest.raises(RegistryForbidden):
        has_image(to, "sha256:" + "0" * 64)


def test_content_that_is_not_that_of_its_digest_is_refused(
    registry: Registry, layer: LayerFile
) -> None:
    named = add_image(registry, "team/base", "1")
    to = access(registry)
    base = pinned(image(registry, "team/base:1"), to)
    repository = registry.store.repository("team/base")
    kind, content = repository.manifests[named]
    repository.manifests[named] = (kind, content.replace(b"layers", b"Layers"))
    with pytest.raises(RegistryRefused, match="another digest"):
        push(base, "x86_64", layer, to)
    repository.manifests[named] = (kind, content)
    config = json.loads(content)["config"]["digest"]
    repository.blobs[config] = repository.blobs[config].replace(b"linux", b"minix")
    with pytest.raises(RegistryRefused, match="another digest"):
        push(base, "x86_64", layer, to)
    assert registry.store.repository("envs").manifests == {}


def test_a_layer_that_the_registry_cuts_short_is_refused(
    registry: Registry, other: Registry, layer: LayerFile
) -> None:
    add_image(other, "team/base", "1")
    to = access(registry)
    base = pinned(image(other, "team/base:1"), to)
    manifest, _, _ = read_image(other, "team/base", "1")
    blobs = other.store.repository("team/base").blobs
    digest = manifest["layers"][0]["digest"]
    blobs[digest] = blobs[digest][:-1]
    with pytest.raises(RegistryError):
        push(base, "x86_64", layer, to)
    assert digest not in registry.store.repository("envs").blobs


@pytest.mark.parametrize(
    ("header", "scheme", "parameters"),
    [
        ('Bearer realm="https://a/t?x=1",service="a, b",scope="repository:x:pull"', "bearer",
         {"realm": "https://a/t?x=1", "service": "a, b", "scope": "repository:x:pull"}),
        ("bearer realm=https://a/t, service=s", "bearer", {"realm": "https://a/t", "service": "s"}),
        ('Basic realm="r"', "basic", {"realm": "r"}),
        ("", "", {}),
    ],
)  # fmt: skip
def test_a_challenge_is_read(header: str, scheme: str, parameters: dict[str, str]) -> None:
    found = parse_challenge(header)
    assert (found.scheme, dict(found.parameters)) == (scheme, parameters)
