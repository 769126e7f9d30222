"""Names of images and repositories are read as Docker and Kubernetes read them."""

from __future__ import annotations

import pytest

from atom.clusters.engines.image_references import parse_image, parse_repository
from atom.clusters.engines.registry_configs import credentials_of, parse_config

D = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "name", "version", "origin"),
    [
        ("python:3.12-slim", "docker.io/library/python", "3.12-slim", "https://registry-1.docker.io"),
        ("team/x", "docker.io/team/x", "latest", "https://registry-1.docker.io"),
        ("index.docker.io/team/x:1", "docker.io/team/x", "1", "https://registry-1.docker.io"),
        ("ghcr.io/team/x:v1", "ghcr.io/team/x", "v1", "https://ghcr.io"),
        (f"r.example:5000/a/b/c@{D}", "r.example:5000/a/b/c", D, "https://r.example:5000"),
        (f"r.example/a:1@{D}", "r.example/a", D, "https://r.example"),
        ("localhost/a", "localhost/a", "latest", "http://localhost"),
        ("127.0.0.1:5000/a", "127.0.0.1:5000/a", "latest", "http://127.0.0.1:5000"),
        ("[::1]:5000/a", "[::1]:5000/a", "latest", "http://[::1]:5000"),
    ],
)  # fmt: skip
def test_an_image_is_read(text: str, name: str, version: str, origin: str) -> None:
    found = parse_image(text)
    assert found is not None
    assert (found.repository.name, found.version, found.repository.origin) == (
        name,
        version,
        origin,
    )


@pytest.mark.parametrize(
    "text",
    ["", "A", "a:", "a@sha256:1", "a b", "r.example/", "r.example/A:1", "r.example:99999/a",
     "r.example/a:-", "r.example/../a", "http://r.example/a", "r.example/a?b", "a\n",
     f"r.example/{'a' * 300}", "me:pass@r.example/a"],
)  # fmt: skip
def test_a_text_that_is_no_image_is_refused(text: str) -> None:
    assert parse_image(text) is None


@pytest.mark.parametrize(
    ("text", "origin", "path"),
    [
        ("registry.example/atom/envs", "https://registry.example", "atom/envs"),
        ("https://registry.example/envs", "https://registry.example", "envs"),
        ("http://registry.example:5000/envs", "http://registry.example:5000", "envs"),
        ("127.0.0.1:5000/envs", "http://127.0.0.1:5000", "envs"),
        ("docker.io/team/envs", "https://registry-1.docker.io", "team/envs"),
    ],
)
def test_a_repository_is_read(text: str, origin: str, path: str) -> None:
    found = parse_repository(text)
    assert found is not None
    assert (found.origin, found.path) == (origin, path)


@pytest.mark.parametrize(
    "text",
    ["", "envs", "team/envs", "registry.example", "registry.example/", "registry.example/a:1",
     f"registry.example/a@{D}", "ftp://registry.example/a", "registry.example/a/",
     "me:pass@registry.example/a", "http://http://registry.example/a", "registry.example/A"],
)  # fmt: skip
def test_a_text_that_is_no_repository_is_refused(text: str) -> None:
    assert parse_repository(text) is None


@pytest.mark.parametrize(
    ("key", "registry"),
    [("ghcr.io", "ghcr.io"), ("https://ghcr.io", "ghcr.io"), ("https://ghcr.io/v2/", "ghcr.io"),
     ("https://index.docker.io/v1/", "docker.io"), ("docker.io", "docker.io")],
)  # fmt: skip
def test_credentials_are_found_by_each_way_to_write_a_registry(key: str, registry: str) -> None:
    config = parse_config(f'{{"auths": {{"{key}": {{"username": "me", "password": "a:b"}}}}}}')
    assert credentials_of(config, registry) == ("me", "a:b")
    assert credentials_of(config, "another.example") is None
