"""Errors for S3 clients: AtomErrors that also carry S3's own code.

S3 tools decide by the code and the status; people read the sentence.
"""

from __future__ import annotations

from typing import ClassVar

from atom.core.errors import AtomError


class S3Error(AtomError):
    """A failure that is answered as S3's XML."""

    s3_code: ClassVar[str] = "InvalidRequest"
    code = "s3_invalid_request"
    title = "The request is not one that this endpoint understands."
    action = "Compare it with the operations in the documentation of the S3 endpoint."


class AnonymousAccess(S3Error):
    """The request is not signed."""

    status = 403
    s3_code = "AccessDenied"
    code = "s3_anonymous"
    title = "The request is not signed, and nothing here is public."
    action = "Give the tool an S3 key pair, made in the portal under S3 keys."


class SignatureMalformed(S3Error):
    """The Authorization header or the signing parameters cannot be read."""

    s3_code = "AuthorizationHeaderMalformed"
    code = "s3_signature_malformed"
    title = "The signature of the request cannot be read."
    action = "Sign with AWS Signature Version 4 (AWS4-HMAC-SHA256) for the service s3."


class SignatureMismatch(S3Error):
    """The secret, or what was signed, is another."""

    status = 403
    s3_code = "SignatureDoesNotMatch"
    code = "s3_signature_mismatch"
    title = "The signature does not fit the request."
    action = "Check the secret access key, and that no proxy changes the path or the Host header."


class UnknownAccessKey(S3Error):
    """The key is unknown, revoked or expired; the answer does not say which."""

    status = 403
    s3_code = "InvalidAccessKeyId"
    code = "s3_unknown_access_key"
    title = "The access key id is wrong, expired or revoked."
    action = "Make a new S3 key pair in the portal under S3 keys."


class ClockSkewed(S3Error):
    """The request was signed too long ago, or in the future."""

    status = 403
    s3_code = "RequestTimeTooSkewed"
    code = "s3_clock_skewed"
    title = "The request was signed more than 15 minutes before or after the server's time."
    action = "Set the clock of the machine that signs."


class LinkExpired(S3Error):
    """A presigned address whose time has passed."""

    status = 403
    s3_code = "AccessDenied"
    code = "s3_link_expired"
    title = "Request has expired."
    action = "Sign a new address."


class PayloadNotRead(S3Error):
    """A read whose signature covers a body."""

    s3_code = "XAmzContentSHA256Mismatch"
    code = "s3_payload_not_read"
    title = "Reads have no body, but the signature covers one."
    action = "Sign the hash of the empty body, or UNSIGNED-PAYLOAD."


class AddressMalformed(S3Error):
    """The path or the query is not percent-encoded UTF-8."""

    s3_code = "InvalidURI"
    code = "s3_address_malformed"
    title = "The address is not percent-encoded UTF-8."
    action = "Encode the key as UTF-8 and escape it."


class ArgumentInvalid(S3Error):
    """A parameter of a listing is wrong."""

    s3_code = "InvalidArgument"
    code = "s3_argument_invalid"
    title = "A parameter of the request is not valid."
    action = "Correct the parameter that is named."


class ListingOvertaken(S3Error):
    """The version expired, or the branch was deleted, between two pages of a listing."""

    # Not a 5xx, which clients try again and again.
    status = 409
    s3_code = "OperationAborted"
    code = "s3_listing_overtaken"
    title = "The listed version can no longer be read."
    action = "List another version, or restore this one with `atom data restore`."


class ReadOnly(S3Error):
    """A write. Versions never change."""

    status = 405
    s3_code = "MethodNotAllowed"
    code = "s3_read_only"
    title = "This endpoint is read-only: versions of datasets never change."
    action = "Write with `atom data push` or in the portal; then read the new version here."


class OperationUnknown(S3Error):
    """A part of S3 that this endpoint does not have."""

    status = 501
    s3_code = "NotImplemented"
    code = "s3_operation_unknown"
    title = "This endpoint does not have that operation."
    action = "Use ListBuckets, ListObjects, ListObjectsV2, HeadObject or GetObject."


class BucketUnknown(S3Error):
    """The key's project has no such dataset, or it is another project's."""

    status = 404
    s3_code = "NoSuchBucket"
    code = "s3_bucket_unknown"
    title = "The project of this key has no dataset of that name."
    action = "List the buckets: each is a dataset of the key's project."


class KeyUnknown(S3Error):
    """No such version in the dataset, or no such file in the version."""

    status = 404
    s3_code = "NoSuchKey"
    code = "s3_key_unknown"
    title = "There is no such file."
    action = "Keys begin with a version, tag or branch: `v3/path/of/the/file`."


class PreconditionFailed(S3Error):
    """If-Match or If-Unmodified-Since does not hold."""

    status = 412
    s3_code = "PreconditionFailed"
    code = "s3_precondition_failed"
    title = "The file is not the one that the request expects."
    action = "Read its present ETag with a HEAD request."


class PartUnknown(S3Error):
    """Every object has one part."""

    status = 416
    s3_code = "InvalidPartNumber"
    code = "s3_part_unknown"
    title = "Every object here has exactly one part."
    action = "Ask for partNumber=1, or for a range."


class RangeInvalid(S3Error):
    """The Range header asks for bytes that the file does not have."""

    status = 416
    s3_code = "InvalidRange"
    code = "s3_range_invalid"
    title = "The file does not have the requested bytes."
    action = "Ask for a range inside the file."


class ObjectDamaged(S3Error):
    """The stored bytes do not hash to the entry's digest."""

    status = 500
    s3_code = "InternalError"
    code = "s3_object_damaged"
    title = "The stored bytes of this file are damaged and are not served."
    action = "Warm the version, which quarantines the pack; then push its folder again."


class SourceObjectUnavailable(S3Error):
    """A file stays at its source, and what is there now is not what the version pinned."""

    # Not a 5xx, which clients try again and again.
    status = 409
    s3_code = "OperationAborted"
    code = "s3_source_changed"
    title = "The file changed at its source, or the source was removed."
    action = "Scan the source again, and read the version that this makes."


class ObjectUnavailable(S3Error):
    """The version is there, its bytes or its manifest are not."""

    status = 500
    s3_code = "InternalError"
    code = "s3_object_unavailable"
    title = "The stored bytes of this file are not available."
    action = "Push the folder that the file came from again."


class Busy(S3Error):
    """Too many reads at once, or a service behind us is away."""

    status = 503
    s3_code = "SlowDown"
    code = "s3_busy"
    title = "The endpoint cannot answer now."
    action = "Try again in a moment; S3 tools do so by themselves."


class Broken(S3Error):
    """An unexpected failure of ours."""

    status = 500
    s3_code = "InternalError"
    code = "s3_broken"
    title = "The server failed at this request."
    action = "Try again; if it stays, give the request id to the administrator."
