"""What is needed to reach a source, as it travels between the catalogue and a reader."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from atom.core.errors import Invalid

S3, FOLDER, HTTP = "s3", "folder", "http"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An S3 key pair; all empty for anonymous access. Never shown, also not in a repr."""

    access_key_id: str = field(default="", repr=False)
    secret_access_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)


ANONYMOUS = Credentials()


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source: `url` is s3://bucket/prefix, file:///folder or the http(s) URL of a list of URLs.

    `endpoint` and `region` are of S3 only; without an endpoint it is AWS.
    """

    id: str
    url: str
    endpoint: str = ""
    region: str = ""
    credentials: Credentials = ANONYMOUS

    @property
    def kind(self) -> str:
        """Return `s3`, `folder` or `http`."""
        return kind_of(self.url)

    @property
    def bucket(self) -> str:
        """Return the bucket of an S3 source."""
        return urlsplit(self.url).netloc

    @property
    def root(self) -> str:
        """Return the prefix of the keys of an S3 source: empty, or ending in a slash."""
        # Not through urlsplit: a key may have a question mark or a hash sign.
        prefix = self.url.split("://", 1)[1].partition("/")[2]
        return prefix if not prefix or prefix.endswith("/") else f"{prefix}/"

    @property
    def folder(self) -> str:
        """Return the path of a folder source."""
        return self.url.removeprefix("file://")


def kind_of(url: str) -> str:
    """Return the kind of source that a URL means. Raises Invalid for none."""
    scheme = url.partition("://")[0]
    kinds = {"s3": S3, "file": FOLDER, "http": HTTP, "https": HTTP}
    if scheme not in kinds:
        said = "Give s3://bucket/prefix, file:///folder or the https:// address of a list."
        raise Invalid(errors={"url": [said]})
    return kinds[scheme]


def check_spec(spec: SourceSpec) -> None:
    """Refuse what cannot be right whatever the network says. Raises Invalid, naming the field."""
    errors: dict[str, list[str]] = {}
    if spec.kind == S3 and not _BUCKET.fullmatch(spec.url[len("s3://") :].partition("/")[0]):
        errors["url"] = ["The name of the bucket is not valid."]
    # The region becomes part of a host name.
    if spec.region and not _REGION.fullmatch(spec.region):
        errors["region"] = ["A region has lower-case letters, digits and hyphens."]
    if spec.kind != S3 and (spec.endpoint or spec.region):
        errors["endpoint"] = ["Only a bucket has an endpoint and a region."]
    if spec.kind != S3 and spec.credentials != ANONYMOUS:
        errors["access_key_id"] = ["Only a bucket has keys."]
    if bool(spec.credentials.access_key_id) != bool(spec.credentials.secret_access_key):
        errors["secret_access_key"] = ["Give both keys, or none for a public bucket."]
    if errors:
        raise Invalid(errors=errors)
