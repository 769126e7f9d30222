"""The model registry from Python."""

from __future__ import annotations

import builtins
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atom_sdk.client.errors import ApiError, ClientError, NotFoundError
from atom_sdk.client.transport.http import Http

_VERSION = re.compile(r"v?([0-9]{1,9})")


class DownloadCorruptError(ClientError):
    """A downloaded file does not have the digest that the registry recorded."""

    code = "download_corrupt"
    hint = "Run the download again; if it happens twice, tell the administrator the file's name."


class Models:
    """Models of one project."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._base = f"projects/{project}/models/"

    def list(self) -> Iterator[dict[str, Any]]:
        """Yield the models."""
        return self._http.pages(self._base)

    def get(self, name: str) -> dict[str, Any]:
        """Return one model."""
        found: dict[str, Any] = self._http.get(f"{self._base}{name}/")
        return found

    def versions(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the versions, newest first."""
        return self._http.pages(f"{self._base}{name}/versions/")

    def version(self, name: str, number: int | str) -> dict[str, Any]:
        """Return one version by number or alias."""
        found: dict[str, Any] = self._http.get(
            f"{self._base}{name}/versions/{self._number(name, number)}/"
        )
        return found

    def register(self, name: str, run: str, artifact_path: str, description: str = "") -> Any:
        """Make a version from the files that `run` left under `artifact_path`."""
        body = {"run": run, "artifact_path": artifact_path, "description": description}
        try:
            self.get(name)
        except ApiError as missing:
            if missing.status != 404:
                raise
            self._make(name)
        return self._http.post(f"{self._base}{name}/versions/", body)

    def _make(self, name: str) -> None:
        try:
            self._http.post(self._base, {"name": name})
        except ApiError as taken:
            # Somebody else has made it a moment ago.
            if taken.code != "model_name_taken":
                raise

    def alias(self, name: str, alias: str, number: int) -> Any:
        """Point `alias` at a version."""
        return self._http.put(f"{self._base}{name}/aliases/{alias}/", {"version": number})

    def lineage(self, name: str, number: int | str) -> dict[str, Any]:
        """Return the graph from labels to evaluations."""
        found: dict[str, Any] = self._http.get(
            f"{self._base}{name}/versions/{self._number(name, number)}/lineage/"
        )
        return found

    def evaluations(self, name: str, number: int | str) -> builtins.list[dict[str, Any]]:
        """Return how the version did."""
        path = f"{self._base}{name}/versions/{self._number(name, number)}/evaluations/"
        return list(self._http.pages(path))

    def download(self, name: str, number: int | str, folder: Path) -> builtins.list[Path]:
        """Write the version's files below `folder` and check every digest.

        Raises DownloadCorruptError; files that fail are not left behind.
        """
        path = f"{self._base}{name}/versions/{self._number(name, number)}/download/"
        return [self._fetch(file, folder) for file in self._http.get(path)["files"]]

    def _fetch(self, file: dict[str, Any], folder: Path) -> Path:
        target: Path = folder / str(file["path"]).lstrip("/")
        if ".." in target.relative_to(folder).parts:
            raise DownloadCorruptError(f"{file['path']!r} is not a path below the folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.part")
        try:
            if self._save(str(file["url"]), temporary) != file["sha256"]:
                raise DownloadCorruptError(f"{file['path']} arrived with a different SHA-256.")
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        os.replace(temporary, target)
        return target

    def _save(self, url: str, target: Path) -> str:
        """Write what the store gives, and return its SHA-256 in hex."""
        digest = hashlib.sha256()
        with self._http.objects.stream("GET", url) as response, target.open("wb") as out:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                digest.update(chunk)
                out.write(chunk)
        return digest.hexdigest()

    def _number(self, name: str, number: int | str) -> int:
        # As people write it: `digits@v3`; no alias reads so.
        if match := _VERSION.fullmatch(str(number)):
            return int(match[1])
        aliases: dict[str, int] = {
            alias["name"]: alias["version"]
            for alias in self._http.get(f"{self._base}{name}/")["aliases"]
        }
        if number not in aliases:
            said = f"The model {name} has no alias {str(number)!r}."
            raise NotFoundError(said, f"List them: atom model show {name}")
        return aliases[str(number)]
