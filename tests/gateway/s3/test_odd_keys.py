"""Keys that XML 1.0 cannot hold, for tools that do not ask for encoded ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from atom.gateway.s3.catalogue import Catalogue
from atom.gateway.s3.listings import list_objects
from atom.gateway.s3.requests import S3Request
from tests.gateway.s3.conftest import S3Address, Shelf, fill_shelf

S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"
FILES = {
    "a.txt": b"a",
    "b\x01.txt": b"one",
    "b!.txt": b"between the two that look alike",
    "b%02.txt": b"stored as it is shown",
    "dir\x1f/x\ufffe.txt": b"both",
    "tab\t.txt": b"tab",
    "z.txt": b"z",
}
SHOWN = {"b\x01.txt": "b%01.txt", "dir\x1f/x\ufffe.txt": "dir%1F/x%EF%BF%BE.txt"}


@pytest.fixture
def odd(transactional_db: None) -> Shelf:
    return fill_shelf(FILES)


def test_s5cmd_copies_all_and_the_odd_ones_under_the_name_that_it_is_shown(
    s3: S3Address, odd: Shelf, tmp_path: Path
) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "AWS_ACCESS_KEY_ID": odd.key.pair.access_key_id,
        "AWS_SECRET_ACCESS_KEY": odd.key.secret,
        "AWS_REGION": "us-east-1",
        "S3_ENDPOINT_URL": s3.url,
    }
    command = [str(Path(sys.executable).parent / "s5cmd"), "cp", "s3://digits/v1/*", "out/"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    out = tmp_path / "out"
    copied = {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert copied == {SHOWN.get(path, path): data for path, data in FILES.items()}
    # A client that asks for encoded keys gets the names as they are.
    listing = s3.client(odd.key).list_objects_v2(Bucket="digits", Prefix="v1/")
    assert {row["Key"] for row in listing["Contents"]} == {f"v1/{path}" for path in FILES}


def test_pages_of_both_versions_go_on_after_a_key_that_was_shown_otherwise(odd: Shelf) -> None:
    catalogue = Catalogue()
    bucket = catalogue.bucket(odd.project.pk, "digits")

    def keys(prefix: str, **query: str) -> list[str]:
        """Every key below a prefix, one to a page; each page begins after the last key."""
        marker = "start-after" if query else "marker"
        listed = [""]
        while True:
            parameters = {"prefix": prefix, "max-keys": "1", marker: listed[-1], **query}
            request = S3Request("GET", "/digits", tuple(parameters.items()), {})
            page = ElementTree.fromstring(list_objects(request, bucket, catalogue))
            listed += [node.text or "" for node in page.iter(f"{S3}Key")]
            if page.findtext(f"{S3}IsTruncated") == "false":
                return listed[1:]

    shown = [f"v1/{SHOWN.get(path, path)}" for path in sorted(FILES)]
    assert keys("v1/") == keys("v1/", **{"list-type": "2"}) == shown
    assert keys("v1/dir%1F/") == ["v1/dir%1F/x%EF%BF%BE.txt"]
    assert keys("v1/b%02") == ["v1/b%02.txt"]
