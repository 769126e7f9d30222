"""ListBuckets, ListObjectsV2 and ListObjects: parameters in, documents out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from atom.core import crypto
from atom.gateway.s3.catalogue import Bucket, Catalogue, PinnedRef, version_store
from atom.gateway.s3.errors import ArgumentInvalid, KeyUnknown, ListingOvertaken
from atom.gateway.s3.files import VersionFiles
from atom.gateway.s3.listing import SLASH, ListPage, ListRequest, Section, after, list_keys
from atom.gateway.s3.requests import S3Request
from atom.gateway.s3.xml import Node, document, timestamp, unescaped, url_encoded

MAX_KEYS = 1000
_PURPOSE = "s3-listing"
_DIGITS = re.compile(r"\d{1,9}")


@dataclass(frozen=True)
class Continuation:
    """Where a listing goes on, and the version that its branch stood for at the beginning.

    `ref` is whose keys come next, "" where the client did not say; `root` is known to tokens only.
    """

    start: str
    ref: str = ""
    root: str = ""


def open_files(bucket: Bucket, ref: PinnedRef) -> VersionFiles:
    """Return the files of a version."""
    store = version_store(bucket)
    return VersionFiles(store.root(ref.root), store)


def list_buckets(buckets: list[Bucket]) -> bytes:
    """Return ListAllMyBucketsResult."""
    rows: list[Node] = [
        ("Bucket", [("Name", row.name), ("CreationDate", timestamp(row.created_at))])
        for row in buckets
    ]
    owner: Node = ("Owner", [("ID", "atom"), ("DisplayName", "atom")])
    return document("ListAllMyBucketsResult", [owner, ("Buckets", rows)])


def list_objects(request: S3Request, bucket: Bucket, catalogue: Catalogue) -> bytes:
    """Return ListBucketResult, of version 2 if the query asks for it. Raises ArgumentInvalid.

    Raises ListingOvertaken for a later page of a version that can be read no longer.
    """
    is_v2 = request.parameter("list-type") == "2"
    token = request.parameter("continuation-token") if is_v2 else ""
    marker = request.parameter("start-after" if is_v2 else "marker")
    prefix, delimiter = request.parameter("prefix"), request.parameter("delimiter")
    text = _encoder(request)
    begin, last = prefix, marker
    if text is not url_encoded:
        begin, last = (_stored_key(bucket, catalogue, key) for key in (prefix, marker))
    start = after(last, begin, delimiter)
    # A marker of version 1 is where the page before ended; what comes after is up to the client.
    goes_on_in = "" if is_v2 else _section_of(start)
    going_on = _read_token(token) if token else Continuation(start, goes_on_in)
    wanted = ListRequest(begin, delimiter, going_on.start, _max_keys(request))
    sections = _sections(bucket, catalogue, wanted, going_on)
    page = list_keys(sections, wanted) if wanted.limit else ListPage()
    head: list[Node] = [
        ("Name", bucket.name),
        ("Prefix", text(prefix)),
        ("MaxKeys", str(wanted.limit)),
        ("IsTruncated", "true" if page.next is not None else "false"),
    ]
    head += [("Delimiter", text(delimiter))] if delimiter else []
    head += [("EncodingType", "url")] if text is url_encoded else []
    head += _v2_nodes(request, page, sections) if is_v2 else _v1_nodes(page, text(marker), text)
    return document("ListBucketResult", [*head, *_lines(page, text)])


def _stored_key(bucket: Bucket, catalogue: Catalogue, shown: str) -> str:
    """Return the key, or prefix, that a document without `encoding-type=url` shows as `shown`."""
    name, slash, path = shown.partition(SLASH)
    if not slash or unescaped(path) == path:
        return shown
    try:
        ref = catalogue.ref(bucket, name)
    except KeyUnknown:
        return shown
    return name + slash + open_files(bucket, ref).stored_path(path)


def _sections(
    bucket: Bucket, catalogue: Catalogue, wanted: ListRequest, going_on: Continuation
) -> list[Section]:
    """Return the versions that the listing may touch; a prefix with a slash names only one."""
    name, slash, _ = wanted.prefix.partition(SLASH)
    try:
        refs = [catalogue.ref(bucket, name)] if slash else catalogue.refs(bucket)
    except KeyUnknown:
        refs = []
    if going_on.ref and all(ref.name != going_on.ref for ref in refs):
        # An empty page would be the last one: a tool that mirrors would delete what it has.
        raise ListingOvertaken(f"{bucket.name} has no {going_on.ref} any more that can be read.")
    is_pinned = bool(going_on.root)
    pinned = [
        PinnedRef(ref.name, going_on.root, ref.created_at)
        if is_pinned and ref.name == going_on.ref
        else ref
        for ref in refs
    ]
    return [_section(bucket, ref) for ref in pinned]


def _section_of(start: str) -> str:
    name, slash, _ = start.partition(SLASH)
    return name if slash else ""


def _section(bucket: Bucket, ref: PinnedRef) -> Section:
    return Section(ref.name, ref.created_at, lambda: open_files(bucket, ref), ref.root)


def _lines(page: ListPage, text: Callable[[str], str]) -> list[Node]:
    lines: list[Node] = [
        (
            "Contents",
            [
                ("Key", text(found.key)),
                ("LastModified", timestamp(found.modified_at)),
                ("ETag", found.file.etag),
                ("Size", str(found.file.size_bytes)),
                ("StorageClass", "STANDARD"),
            ],
        )
        for found in page.objects
    ]
    return [*lines, *(("CommonPrefixes", [("Prefix", text(path))]) for path in page.prefixes)]


def _v2_nodes(request: S3Request, page: ListPage, sections: list[Section]) -> list[Node]:
    nodes: list[Node] = [("KeyCount", str(page.length))]
    if request.has("continuation-token"):
        nodes.append(("ContinuationToken", request.parameter("continuation-token")))
    if request.has("start-after"):
        nodes.append(("StartAfter", _encoder(request)(request.parameter("start-after"))))
    if page.next is not None:
        roots = {section.name: section.root for section in sections}
        ref = page.next_section or ""
        payload = {"k": page.next, "r": ref, "v": roots.get(ref, "")}
        nodes.append(("NextContinuationToken", crypto.sign(payload, _PURPOSE)))
    return nodes


def _v1_nodes(page: ListPage, marker: str, text: Callable[[str], str]) -> list[Node]:
    nodes: list[Node] = [("Marker", marker)]
    if page.next is not None:
        nodes.append(("NextMarker", text(page.last)))
    return nodes


def _read_token(token: str) -> Continuation:
    try:
        payload = crypto.unsign(token, _PURPOSE)
        return Continuation(str(payload["k"]), str(payload["r"]), str(payload["v"]))
    except (crypto.BadSignature, KeyError) as exc:
        raise ArgumentInvalid("The continuation token is not one of this endpoint.") from exc


def _max_keys(request: S3Request) -> int:
    given = request.parameter("max-keys", str(MAX_KEYS))
    if _DIGITS.fullmatch(given) is None:
        raise ArgumentInvalid("max-keys is not a number from 0 on.")
    return min(int(given), MAX_KEYS)


def _encoder(request: S3Request) -> Callable[[str], str]:
    encoding = request.parameter("encoding-type")
    if encoding not in {"", "url"}:
        raise ArgumentInvalid("encoding-type is not url.")
    return url_encoded if encoding else str
