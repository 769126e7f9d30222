"""Images: every one is this Python, unless a test says how it fails."""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kubernetes.store import Store

from .environment import secret_data

Json = dict[str, Any]

_TOO_LARGE = re.compile(r"[A-Z]")
_NO_NAME = re.compile(r"[a-z0-9][a-z0-9._/:@-]*")


@dataclass
class ImageError(Exception):
    """An image that cannot be had: the reason, the message, and the events beside `Failed`."""

    reason: str
    message: str
    event: str = "Failed"
    is_pull: bool = False


@dataclass
class Images:
    """The images that fail, and what they contain; each switch is off at the beginning."""

    store: Store
    # Folders of this machine that an image has beside this Python, and their places.
    contents: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    _absent: dict[str, str] = field(default_factory=dict)
    _failing: dict[str, tuple[str, str]] = field(default_factory=dict)
    _private: dict[str, tuple[str, str]] = field(default_factory=dict)
    _held: dict[str, threading.Event] = field(default_factory=dict)

    def forbid(self, image: str, words: str = "") -> None:
        """Let the registry refuse an image, with the words of a registry that is not there."""
        registry, _, rest = image.partition("/")
        name, _, tag = rest.rpartition(":")
        self._absent[image] = words or (
            f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": '
            f'failed to do request: Head "http://{registry}/v2/{name}/manifests/{tag}": dial tcp '
            f"{registry}: connect: connection refused"
        )

    def fail(self, image: str, reason: str, words: str) -> None:
        """Let containers of an image fail with CreateContainerError or RunContainerError."""
        self._failing[image] = (reason, words)

    def make_private(self, registry: str, user: str, password: str) -> None:
        """Let a registry ask for a pull secret of the pod or of its account."""
        self._private[registry] = (user, password)

    def hold(self, image: str) -> threading.Event:
        """Let pulls of an image last until the returned event is set."""
        return self._held.setdefault(image, threading.Event())

    def allow(self, image: str) -> None:
        """Take back all that was said about an image."""
        self._absent.pop(image, None)
        self._failing.pop(image, None)
        self.release(image)

    def release(self, image: str = "") -> None:
        """Let the held pulls of an image, or all of them, go on."""
        for name in [image] if image else list(self._held):
            if (gate := self._held.pop(name, None)) is not None:
                gate.set()

    def is_pulled(self, pod: Json, container: Json) -> bool:
        """Return whether the node has to ask a registry."""
        image = container["image"]
        asks = image in self._absent or image in self._held or self._registry(image) is not None
        return container.get("imagePullPolicy") == "Always" or asks

    def gate(self, image: str) -> threading.Event | None:
        """Return what a pull waits for."""
        return self._held.get(image)

    def check_name(self, container: Json) -> None:
        """Raise ImageError for a name that is none, and for an image that is not on the node."""
        image = container["image"]
        name = image.partition("@")[0]
        repository = re.sub(r":[^/]*$", "", name)
        if _TOO_LARGE.search(repository.rsplit("/", 1)[-1]):
            why = f"repository name (library/{repository}) must be lowercase"
            raise _no_name(image, f"invalid reference format: {why}")
        if not _NO_NAME.match(image):
            raise _no_name(image, "invalid reference format")
        if container.get("imagePullPolicy") == "Never" and image in self._absent:
            words = f'Container image "{image}" is not present with pull policy of Never'
            raise ImageError("ErrImageNeverPull", words, "ErrImageNeverPull")

    def pull(self, pod: Json, container: Json) -> None:
        """Raise ImageError when the registry refuses."""
        image = container["image"]
        if words := self._absent.get(image):
            raise ImageError("ErrImagePull", words, is_pull=True)
        registry = self._registry(image)
        if registry is not None and not self._may_pull(pod, registry):
            words = (
                f'failed to pull and unpack image "{image}": failed to resolve reference '
                f'"{image}": pull access denied, repository does not exist or may require '
                "authorization: authorization failed: no basic auth credentials"
            )
            raise ImageError("ErrImagePull", words, is_pull=True)

    def check_runtime(self, container: Json) -> None:
        """Raise ImageError for an image whose containers fail."""
        if failure := self._failing.get(container["image"]):
            raise ImageError(*failure)

    def _registry(self, image: str) -> str | None:
        return next((name for name in self._private if image.startswith(f"{name}/")), None)

    def _may_pull(self, pod: Json, registry: str) -> bool:
        spec, namespace = pod["spec"], pod["metadata"]["namespace"]
        account = self.store.get("serviceaccounts.", namespace, spec["serviceAccountName"]) or {}
        secrets = [*(spec.get("imagePullSecrets") or ()), *(account.get("imagePullSecrets") or ())]
        wish = self._private[registry]
        return any(
            _credentials(self.store, namespace, item["name"], registry) == wish for item in secrets
        )


def _no_name(image: str, why: str) -> ImageError:
    words = f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": '
    return ImageError("InvalidImageName", words + why, "InspectFailed")


def _credentials(store: Store, namespace: str, name: str, registry: str) -> tuple[str, str] | None:
    """Return the user and password that a pull secret has for a registry."""
    data = secret_data(store, namespace, name) or {}
    try:
        entry = json.loads(data[".dockerconfigjson"])["auths"][registry]
        if "auth" in entry:
            user, _, password = base64.b64decode(entry["auth"]).decode().partition(":")
            return user, password
        return str(entry["username"]), str(entry["password"])
    except (KeyError, TypeError, ValueError):
        return None
