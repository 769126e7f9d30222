"""The description of a source, as it travels between the catalogue and a reader."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from urllib.parse import urlsplit

from rest_framework.exceptions import ErrorDetail

from atom.core.errors import Invalid

S3, FOLDER, HTTP, AZURE, GCS, HDFS = "s3", "folder", "http", "azure", "gcs", "hdfs"
KINDS = (S3, FOLDER, HTTP, AZURE, GCS, HDFS)
_SCHEMES = {
    "s3": S3,
    "file": FOLDER,
    "http": HTTP,
    "https": HTTP,
    "az": AZURE,
    "gs": GCS,
    "webhdfs": HDFS,
    "swebhdfs": HDFS,
}
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_GCS_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,221}")
_ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
_CONTAINER = re.compile(r"[a-z0-9][a-z0-9-]{2,62}|\$root|\$web")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
DEFAULT_REGION = "us-east-1"
_WITH_ENDPOINT = {S3, AZURE, GCS}
_KEYS = {
    S3: {"access_key_id", "secret_access_key", "session_token"},
    AZURE: {"account_key", "sas_token"},
    GCS: {"service_account"},
    HDFS: {"hdfs_user", "delegation_token"},
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials for each kind of source; all empty for anonymous access. Never shown in a repr.

    S3: a key pair. Azure: the account's key or a SAS token. GCS: the JSON text of a service
    account's key. HDFS: a user's name, or a delegation token.
    """

    access_key_id: str = field(default="", repr=False)
    secret_access_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)
    account_key: str = field(default="", repr=False)
    sas_token: str = field(default="", repr=False)
    service_account: str = field(default="", repr=False)
    hdfs_user: str = field(default="", repr=False)
    delegation_token: str = field(default="", repr=False)

    @property
    def names(self) -> set[str]:
        """Return the names of what is there."""
        return {one.name for one in fields(self) if getattr(self, one.name)}


ANONYMOUS = Credentials()


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source: `url` says by its scheme what kind of place it is.

    s3://bucket/prefix, gs://bucket/prefix, az://account/container/prefix, webhdfs://host:port/path
    (swebhdfs with TLS), file:///folder or the http(s) URL of a list of URLs. Without an `endpoint`
    a bucket is at AWS, Google or Azure; `region` is of S3 only.
    """

    id: str
    url: str
    endpoint: str = ""
    region: str = ""
    credentials: Credentials = ANONYMOUS

    @property
    def kind(self) -> str:
        """Return one of KINDS."""
        return kind_of(self.url)

    @property
    def bucket(self) -> str:
        """Return the bucket of an S3 or GCS source, the account of an Azure one."""
        return self.url.split("://", 1)[1].partition("/")[0]

    @property
    def container(self) -> str:
        """Return the container of an Azure source."""
        return self._path.partition("/")[0]

    @property
    def root(self) -> str:
        """Return the prefix of the keys in the bucket: empty, or ending in a slash."""
        prefix = self._path.partition("/")[2] if self.kind == AZURE else self._path
        return prefix if not prefix or prefix.endswith("/") else f"{prefix}/"

    @property
    def _path(self) -> str:
        # Not through urlsplit: a key may have a question mark or a hash sign.
        return self.url.split("://", 1)[1].partition("/")[2]

    @property
    def folder(self) -> str:
        """Return the path of a folder source."""
        return self.url.removeprefix("file://")


def kind_of(url: str) -> str:
    """Return the kind of source that a URL means. Raises Invalid for none."""
    scheme = url.partition("://")[0]
    if scheme not in _SCHEMES or "://" not in url:
        said = (
            "Give s3://bucket/prefix, gs://bucket/prefix, az://account/container/prefix, "
            "webhdfs://host:port/folder, file:///folder or the https:// address of a list."
        )
        raise Invalid(errors={"url": [ErrorDetail(said, code="source_url")]})
    return _SCHEMES[scheme]


def no_whole_path() -> Invalid:
    """Return what to raise for a folder whose path is no whole one."""
    said = "Give the whole path of the folder."
    return Invalid(errors={"url": [ErrorDetail(said, code="source_folder")]})


def check_spec(spec: SourceSpec) -> None:
    """Refuse what cannot be right whatever the network says. Raises Invalid, naming the field."""
    errors = {
        field: [said]
        for field, said in {**_place_errors(spec), **_credential_errors(spec)}.items()
        if said
    }
    if errors:
        raise Invalid(errors=errors)


def _place_errors(spec: SourceSpec) -> dict[str, str]:
    errors: dict[str, str] = {"url": _url_error(spec)}
    # The region becomes part of a host name.
    if spec.region and not _REGION.fullmatch(spec.region):
        errors["region"] = "A region has lower-case letters, digits and hyphens."
    elif spec.region and spec.kind != S3:
        errors["region"] = "Only an S3 bucket has a region."
    if spec.endpoint and spec.kind not in _WITH_ENDPOINT:
        errors["endpoint"] = "Only a bucket or container has an endpoint."
    return errors


def _url_error(spec: SourceSpec) -> str:
    names = {S3: _BUCKET, GCS: _GCS_BUCKET}
    if spec.kind in names and not names[spec.kind].fullmatch(spec.bucket):
        return "The name of the bucket is not valid."
    if spec.kind == AZURE and not _ACCOUNT.fullmatch(spec.bucket):
        return "The name of the storage account is not valid: az://account/container/prefix."
    if spec.kind == AZURE and not _CONTAINER.fullmatch(spec.container):
        return "The name of the container is not valid: az://account/container/prefix."
    if spec.kind == HDFS and not _has_port(spec.url):
        return "Give host and port of the name node's web address: webhdfs://host:9870/folder."
    return ""


def _has_port(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname and parts.port) and "?" not in url and "#" not in url
    except ValueError:
        return False


def _credential_errors(spec: SourceSpec) -> dict[str, str]:
    keys = spec.credentials
    fitting = _KEYS.get(spec.kind, set())
    errors = dict.fromkeys(keys.names - fitting, "This kind of source does not have this.")
    if bool(keys.access_key_id) != bool(keys.secret_access_key):
        errors["secret_access_key"] = "Give both keys, or none for a public bucket."
    if keys.account_key and keys.sas_token:
        errors["sas_token"] = "Give the account's key or a SAS token, not both."
    return errors
