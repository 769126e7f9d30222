"""AWS Signature Version 4 in both forms: the Authorization header and the presigned address.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import quote

from atom.gateway.s3.errors import (
    AnonymousAccess,
    ClockSkewed,
    LinkExpired,
    PayloadNotRead,
    SignatureMalformed,
    SignatureMismatch,
)
from atom.gateway.s3.requests import S3Request

ALGORITHM = "AWS4-HMAC-SHA256"
MAX_SKEW = timedelta(minutes=15)
MAX_EXPIRES_S = 7 * 86_400
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
UNSIGNED = "UNSIGNED-PAYLOAD"
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"
_SCOPE = re.compile(r"([A-Za-z0-9]{1,128})/(\d{8})/([^/]{1,64})/s3/aws4_request")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Claim:
    """The signature of a request. `expires_s` is None in the header's form."""

    access_key_id: str
    day: str
    region: str
    signed_headers: tuple[str, ...]
    signature: str
    signed_at: datetime
    payload: str
    expires_s: int | None = None


def read_claim(request: S3Request) -> Claim:
    """Return the claim. Raises AnonymousAccess, SignatureMalformed or ClockSkewed."""
    if request.has("X-Amz-Signature"):
        return _claim_of_address(request)
    header = request.headers.get("authorization", "")
    if not header and not request.has("AWSAccessKeyId"):
        raise AnonymousAccess
    algorithm, _, rest = header.partition(" ")
    if algorithm != ALGORITHM:
        raise SignatureMalformed(f"The signature is not {ALGORITHM}.")
    fields = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    return _claim(
        fields.get("Credential", ""),
        fields.get("SignedHeaders", ""),
        fields.get("Signature", ""),
        _time_of_headers(request),
        request.headers.get("x-amz-content-sha256", EMPTY_SHA256),
    )


def check_time(claim: Claim, now: datetime) -> None:
    """Raise ClockSkewed or LinkExpired unless the claim is good now."""
    if claim.signed_at - now > MAX_SKEW:
        raise ClockSkewed
    if claim.expires_s is None:
        if now - claim.signed_at > MAX_SKEW:
            raise ClockSkewed
    elif now > claim.signed_at + timedelta(seconds=claim.expires_s):
        raise LinkExpired


def check_signature(request: S3Request, claim: Claim, secret: str) -> None:
    """Raise SignatureMismatch unless the request was signed with the secret."""
    text = "\n".join(
        (
            ALGORITHM,
            claim.signed_at.strftime(_TIME_FORMAT),
            f"{claim.day}/{claim.region}/s3/aws4_request",
            hashlib.sha256(canonical_request(request, claim).encode()).hexdigest(),
        )
    )
    key = f"AWS4{secret}".encode()
    for part in (claim.day, claim.region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(key.hex(), claim.signature):
        raise SignatureMismatch


def check_payload(claim: Claim) -> None:
    """Raise PayloadNotRead if a read's signature covers a body or a stream of chunks."""
    if claim.payload not in {EMPTY_SHA256, UNSIGNED}:
        raise PayloadNotRead


def canonical_request(request: S3Request, claim: Claim) -> str:
    """Return what was signed. The path is escaped once and never normalised, as S3 does."""
    pairs = sorted((_escape(n), _escape(v)) for n, v in request.query if n != "X-Amz-Signature")
    headers = (
        f"{name}:{' '.join(request.headers.get(name, '').split())}\n"
        for name in claim.signed_headers
    )
    return "\n".join(
        (
            request.method,
            quote(request.path, safe="/~"),
            "&".join(f"{name}={value}" for name, value in pairs),
            "".join(headers),
            ";".join(claim.signed_headers),
            claim.payload,
        )
    )


def _claim_of_address(request: S3Request) -> Claim:
    if request.parameter("X-Amz-Algorithm") != ALGORITHM:
        raise SignatureMalformed(f"X-Amz-Algorithm is not {ALGORITHM}.")
    expires = request.parameter("X-Amz-Expires")
    if not re.fullmatch(r"\d{1,6}", expires) or not 1 <= int(expires) <= MAX_EXPIRES_S:
        raise SignatureMalformed(f"X-Amz-Expires is not a number from 1 to {MAX_EXPIRES_S}.")
    return _claim(
        request.parameter("X-Amz-Credential"),
        request.parameter("X-Amz-SignedHeaders"),
        request.parameter("X-Amz-Signature"),
        _time(request.parameter("X-Amz-Date")),
        request.headers.get("x-amz-content-sha256", UNSIGNED),
        int(expires),
    )


def _claim(  # the fields of the header
    credential: str,
    signed_headers: str,
    signature: str,
    signed_at: datetime,
    payload: str,
    expires_s: int | None = None,
) -> Claim:
    scope = _SCOPE.fullmatch(credential)
    if scope is None:
        raise SignatureMalformed("The credential is not KEY/YYYYMMDD/REGION/s3/aws4_request.")
    if _SIGNATURE.fullmatch(signature) is None:
        raise SignatureMalformed("The signature is not 64 hexadecimal digits.")
    names = tuple(signed_headers.split(";"))
    if "host" not in names:
        raise SignatureMalformed("The Host header is not signed.")
    access_key_id, day, region = scope.groups()
    if signed_at.strftime("%Y%m%d") != day:
        raise SignatureMalformed("The day of the credential is not that of the request.")
    return Claim(access_key_id, day, region, names, signature, signed_at, payload, expires_s)


def _time_of_headers(request: S3Request) -> datetime:
    if "x-amz-date" in request.headers:
        return _time(request.headers["x-amz-date"])
    try:
        found = parsedate_to_datetime(request.headers.get("date", ""))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except ValueError as exc:
        raise SignatureMalformed("There is no readable X-Amz-Date or Date header.") from exc
    except OverflowError as exc:
        # The year is after 9999 in UTC, which no correct clock shows.
        raise ClockSkewed from exc


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as exc:
        raise SignatureMalformed("X-Amz-Date is not like 20260131T235959Z.") from exc


def _escape(text: str) -> str:
    return quote(text, safe="~")
