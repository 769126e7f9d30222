"""Signature Version 4, against botocore's own signer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from atom.gateway.s3 import errors
from atom.gateway.s3.requests import S3Request, parse_request
from atom.gateway.s3.signature import (
    check_payload,
    check_signature,
    check_time,
    read_claim,
)

KEY, SECRET = "ATOM2345672345672345", "a secret with / and +"
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
NOW = datetime.now(UTC)
DATED = {"x-amz-date": "20260131T120000Z"}
CREDENTIAL = f"Credential={KEY}/20260131/us-east-1/s3/aws4_request"
REST = f"SignedHeaders=host, Signature={'0' * 64}"


def received(url: str, headers: dict[str, str], method: str = "GET") -> S3Request:
    """Return what the endpoint sees of a request."""
    parts = urlsplit(url)
    given = {"Host": parts.netloc, **headers}
    scope = {
        "method": method,
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in given.items()],
    }
    return parse_request(scope)


def signed(path: str, query: dict[str, str], region: str = "us-east-1") -> S3Request:
    """Return a request that botocore has signed in a header."""
    text = "&".join(f"{quote(n, safe='-_.~')}={quote(v, safe='-_.~')}" for n, v in query.items())
    url = f"http://s3.example:8002{quote(path, safe='/~')}" + (f"?{text}" if text else "")
    request = AWSRequest("GET", url, headers={"X-Amz-Meta-Spaces": "  two   words "})
    S3SigV4Auth(Credentials(KEY, SECRET), "s3", region).add_auth(request)
    return received(url, {name: str(value) for name, value in request.headers.items()})


def presigned(path: str, expires_s: int = 600) -> S3Request:
    """Return a request to an address that botocore has signed."""
    request = AWSRequest("GET", f"http://s3.example{quote(path, safe='/~')}")
    signer = S3SigV4QueryAuth(Credentials(KEY, SECRET), "s3", "us-east-1", expires=expires_s)
    signer.add_auth(request)
    return received(str(request.url), {})


def check(request: S3Request, at: datetime | None = None, secret: str = SECRET) -> None:
    """Let the endpoint check a request."""
    claim = read_claim(request)
    assert claim.access_key_id == KEY
    check_signature(request, claim, secret)
    check_time(claim, at or datetime.now(UTC))
    check_payload(claim)


def changed(request: S3Request, **fields: Any) -> S3Request:
    """Return a request with other fields."""
    names = ("method", "path", "query", "headers")
    return S3Request(**{name: fields.get(name, getattr(request, name)) for name in names})


@given(path=TEXT, query=st.dictionaries(TEXT.filter(bool), TEXT, max_size=4))
def test_every_path_and_query_is_read_as_botocore_signs_it(
    path: str, query: dict[str, str]
) -> None:
    request = signed(f"/digits/{path}", query)
    assert request.path == f"/digits/{path}"
    assert dict(request.query) == query
    check(request)


@given(path=TEXT)
def test_every_presigned_path_is_read_as_botocore_signs_it(path: str) -> None:
    check(presigned(f"/digits/v1/{path}"))


@given(path=TEXT, other=TEXT)
def test_another_path_does_not_fit_the_signature(path: str, other: str) -> None:
    request = signed(f"/digits/{path}", {})
    if other != path:
        with pytest.raises(errors.SignatureMismatch):
            check(changed(request, path=f"/digits/{other}"))


def test_region_is_free_and_the_rest_is_covered() -> None:
    request = signed("/digits", {"prefix": "v1/"}, region="mars-west-9")
    check(request)
    for other in (
        changed(request, method="HEAD"),
        changed(request, query=(("prefix", "v2/"),)),
        changed(request, headers={**request.headers, "host": "other"}),
        changed(request, headers={**request.headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}),
    ):
        with pytest.raises(errors.SignatureMismatch):
            check(other)
    with pytest.raises(errors.SignatureMismatch):
        check(request, secret=SECRET + "x")


@pytest.mark.parametrize("minutes", [-16, 16])
def test_a_clock_may_be_a_quarter_of_an_hour_off(minutes: int) -> None:
    request = signed("/digits", {})
    signed_at = read_claim(request).signed_at
    check(request, signed_at + timedelta(minutes=minutes * 14 / 16))
    with pytest.raises(errors.ClockSkewed):
        check(request, signed_at + timedelta(minutes=minutes))


@pytest.mark.parametrize(
    "date",
    [
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Fri, 31 Dec 9999 23:59:59 -0000",
        "Fri, 31 Dec 9999 23:59:59 -1200",
        "Fri, 31 Dec 99999999999999999999 23:59:59 GMT",
        "Fri, 31 Dec 2026 23:59:59 +99999999999999999",
    ],
)
def test_a_date_that_no_clock_shows_is_skewed(date: str) -> None:
    credential = f"Credential={KEY}/99991231/us-east-1/s3/aws4_request"
    header = f"AWS4-HMAC-SHA256 {credential}, {REST}"
    request = received("http://s3.example/digits", {"Authorization": header, "Date": date})
    with pytest.raises(errors.ClockSkewed):
        check_time(read_claim(request), NOW)


def test_a_presigned_address_of_the_last_year_is_skewed() -> None:
    query = {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{KEY}/99991231/us-east-1/s3/aws4_request",
        "X-Amz-Date": "99991231T235959Z",
        "X-Amz-Expires": "604800",
        "X-Amz-SignedHeaders": "host",
        "X-Amz-Signature": "0" * 64,
    }
    address = f"http://s3.example/digits?{urlencode(query)}"
    with pytest.raises(errors.ClockSkewed):
        check_time(read_claim(received(address, {})), NOW)


def test_a_presigned_address_is_good_until_it_expires() -> None:
    request = presigned("/digits/v1/a", expires_s=7200)
    signed_at = read_claim(request).signed_at
    check(request, signed_at + timedelta(seconds=7200))
    with pytest.raises(errors.LinkExpired):
        check(request, signed_at + timedelta(seconds=7201))
    with pytest.raises(errors.ClockSkewed):
        check(request, signed_at - timedelta(minutes=16))


def test_a_body_that_reads_do_not_have_is_refused() -> None:
    for payload in ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "0" * 64):
        request = signed("/digits", {})
        claim = read_claim(
            changed(request, headers={**request.headers, "x-amz-content-sha256": payload})
        )
        with pytest.raises(errors.PayloadNotRead):
            check_payload(claim)


@pytest.mark.parametrize(
    ("header", "dates"),
    [
        ("AWS ATOM:c2ln", DATED),
        ("Bearer atom_x_y", DATED),
        ("AWS4-HMAC-SHA256", DATED),
        (f"AWS4-HMAC-SHA256 {REST}", DATED),
        (f"AWS4-HMAC-SHA256 Credential=x/y, {REST}", DATED),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL.replace('/s3/', '/ec2/')}, {REST}", DATED),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL}, SignedHeaders=x-amz-date, Signature={'0' * 64}", DATED),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL}, SignedHeaders=host, Signature=short", DATED),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL}, {REST}", {}),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL}, {REST}", {"x-amz-date": "yesterday"}),
        (f"AWS4-HMAC-SHA256 {CREDENTIAL}, {REST}", {"x-amz-date": "20260201T000000Z"}),
    ],
)
def test_a_signature_that_cannot_be_read_says_so(header: str, dates: dict[str, str]) -> None:
    request = received("http://s3.example/digits", {"Authorization": header, **dates})
    with pytest.raises(errors.SignatureMalformed):
        read_claim(request)


@pytest.mark.parametrize("expires", ["", "0", "604801", "-1", "1e3", "9" * 30])
def test_an_expiry_outside_of_a_week_is_refused(expires: str) -> None:
    query = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0&X-Amz-Expires={expires}"
    with pytest.raises(errors.SignatureMalformed):
        read_claim(received(f"http://s3.example/digits?{query}", {}))


def test_an_unsigned_request_is_anonymous_and_an_old_signature_is_named() -> None:
    with pytest.raises(errors.AnonymousAccess):
        read_claim(received("http://s3.example/digits", {}))
    with pytest.raises(errors.SignatureMalformed, match="AWS4-HMAC-SHA256"):
        read_claim(received("http://s3.example/digits?AWSAccessKeyId=a&Signature=b", {}))


@pytest.mark.parametrize("url", ["/%FF", "/digits?prefix=%C3%28"])
def test_an_address_that_is_no_utf8_is_refused(url: str) -> None:
    with pytest.raises(errors.AddressMalformed):
        received(f"http://s3.example{url}", {})
