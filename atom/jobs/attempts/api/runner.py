"""The protocol of runners: `Authorization: Bearer atomrun_…`, good for one attempt only.

Every request may arrive twice. See `atom_sdk/runner/README.md`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, cast

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.authentication import bearer_of
from atom.core import clock
from atom.core.bodies import JSONParser
from atom.core.errors import Invalid, TooLarge
from atom.core.names import TextField
from atom.core.streaming import streamed
from atom.datasets.browsing.api.entry_serializers import (
    PackDigestsSerializer,
    PackUrlsSerializer,
    SourcePathsSerializer,
    SourceUrlsSerializer,
)
from atom.datasets.catalog.reads import URL_EXPIRES_S
from atom.jobs.artifacts.actions import outputs
from atom.jobs.artifacts.actions.outputs import OutputFile, OutputUpload
from atom.jobs.attempts.actions import attempts
from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.attempts.actions.streamed_inputs import (
    TROUBLES,
    stream_addresses,
    stream_index,
    streamed_sources,
)
from atom.jobs.attempts.exit_reports import ExitSerializer, check_exit_report
from atom.jobs.errors import RunnerTokenInvalid
from atom.jobs.logs.actions import logs
from atom.jobs.logs.actions.logs import ask_flush
from atom.jobs.models import Attempt, Rank
from atom_sdk.sentences import Sentence

MAX_BODY_BYTES = 8 << 20
_PIECE_BYTES = 1 << 20
# The largest number that the columns hold.
MAX_BIGINT = 2**63 - 1
OK = inline_serializer("RunnerOk", {"ok": serializers.BooleanField()})


class RunnerUser:
    """The user that permission classes see for a runner; it has no account."""

    is_authenticated = True
    pk = None


class RunnerAuthentication(BaseAuthentication):
    """Authenticates a runner; `request.auth` is its Rank."""

    def authenticate(self, request: Request) -> tuple[RunnerUser, Rank]:
        """Return the rank of the token. Raises RunnerTokenInvalid."""
        text = bearer_of(request) or ""
        rank = attempts.find_by_token(text) if text.startswith(attempts.TOKEN_PREFIX) else None
        if rank is None:
            raise RunnerTokenInvalid
        return RunnerUser(), rank

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return 'Bearer realm="atom runner"'


class IsRunner(BasePermission):
    """Only runners."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request carries a rank."""
        return isinstance(request.auth, Rank)


class RawParser(BaseParser):
    """Reads the body as it is, up to a limit: not through Django's form limit."""

    media_type = "*/*"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        """Return the body as bytes. Raises TooLarge."""
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge
        return body


class RunnerView(APIView):
    """Base of the runner's resources."""

    authentication_classes = (RunnerAuthentication,)
    permission_classes = (IsRunner,)
    parser_classes: tuple[type[BaseParser], ...] = (JSONParser,)
    throttle_classes = ()

    @property
    def rank(self) -> Rank:
        """Return the rank that the token belongs to."""
        return cast("Rank", self.request.auth)

    @property
    def attempt(self) -> Attempt:
        """Return the attempt of the rank."""
        return self.rank.attempt


class JobView(RunnerView):
    """`runner/job/`."""

    @extend_schema(operation_id="runner_job", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Return the job, with fresh addresses."""
        return Response(job_of(self.attempt, self.rank.number))


class BeatSerializer(serializers.Serializer[Any]):
    """The server's answer to a heartbeat."""

    cancel = serializers.BooleanField()
    token_expires_at = serializers.DateTimeField()
    server_time = serializers.DateTimeField()


class HeartbeatView(RunnerView):
    """`runner/heartbeat/`."""

    @extend_schema(
        operation_id="runner_heartbeat", request=OpenApiTypes.OBJECT, responses=BeatSerializer
    )
    def post(self, request: Request) -> Response:
        """Record a heartbeat of the runner; the answer says whether to stop."""
        return Response(BeatSerializer(attempts.beat(self.rank)).data)


class StartedView(RunnerView):
    """`runner/started/`."""

    @extend_schema(operation_id="runner_started", request=OpenApiTypes.OBJECT, responses=OK)
    def post(self, request: Request) -> Response:
        """Note that the command runs."""
        pid = request.data.get("pid") if isinstance(request.data, dict) else None
        attempts.note_started(self.attempt, pid if isinstance(pid, int) else None, self.rank.number)
        return Response({"ok": True})


class StreamedPacksSerializer(PackDigestsSerializer):
    """Packs that a reader is about to read, or with whose last addresses it had trouble."""

    trouble = serializers.ChoiceField(
        choices=TROUBLES,
        required=False,
        allow_blank=True,
        default="",
        help_text="Why the last addresses did not serve; the new ones lead to another store.",
    )


class StreamedPacksView(RunnerView):
    """`runner/datasets/<alias>/pack-urls/`: for the reader inside a run, of its own inputs only."""

    @extend_schema(
        operation_id="runner_pack_urls",
        request=StreamedPacksSerializer,
        responses=PackUrlsSerializer,
    )
    def post(self, request: Request, alias: str) -> Response:
        """Return where to GET packs of a dataset that the run streams."""
        body = _checked(StreamedPacksSerializer, request)
        urls = stream_addresses(self.attempt, alias, body["packs"], body["trouble"])
        expires_at = clock.now() + timedelta(seconds=URL_EXPIRES_S)
        return Response({"urls": urls, "expires_at": expires_at})


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


class StreamedIndexView(RunnerView):
    """`runner/datasets/<alias>/index/`: what a run on a machine without a cache reads first."""

    @extend_schema(
        operation_id="runner_dataset_index",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, alias: str) -> StreamingHttpResponse:
        """Return the index of a dataset that the run streams, as a file."""
        path = stream_index(self.attempt, alias)
        response = StreamingHttpResponse(
            streamed(_pieces(path)), content_type="application/octet-stream"
        )
        # A runner tells by it whether it has the whole file.
        response["Content-Length"] = str(path.stat().st_size)
        return response


class StreamedSourcesView(RunnerView):
    """`runner/datasets/<alias>/source-urls/`: for the reader inside a run, of its own inputs."""

    @extend_schema(
        operation_id="runner_source_urls",
        request=SourcePathsSerializer,
        responses=SourceUrlsSerializer,
    )
    def post(self, request: Request, alias: str) -> Response:
        """Return where to GET files at a source of a dataset that the run streams."""
        wanted = _checked(SourcePathsSerializer, request)["paths"]
        return Response({"urls": streamed_sources(self.attempt, alias, wanted)})


NEXT = inline_serializer("RunnerLogNext", {"next": serializers.IntegerField()})


class RunnerLogsView(RunnerView):
    """`runner/logs/`: frames at an offset; overlap is cut off, a gap is refused."""

    parser_classes: tuple[type[BaseParser], ...] = (RawParser,)

    @extend_schema(
        operation_id="runner_logs",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[
            OpenApiParameter("X-Atom-Offset", int, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("X-Atom-Stream", str, OpenApiParameter.HEADER),
        ],
        responses=NEXT,
    )
    def post(self, request: Request) -> Response:
        """Append to the log; the answer is given once the bytes are in the stream."""
        offset = request.headers.get("X-Atom-Offset", "")
        if not offset.isdecimal() or len(offset) > len(str(MAX_BIGINT)):
            raise Invalid(
                errors={
                    "X-Atom-Offset": [
                        Sentence("jobs.offset_missing", "Give the offset of the first byte.")
                    ]
                }
            )
        appended = logs.append(self.attempt, int(offset), _inflated(request), self.rank.number)
        if appended.pending_bytes >= logs.CHUNK_BYTES:
            ask_flush(self.attempt.pk)
        return Response({"next": appended.next})


def _inflated(request: Request) -> bytes:
    body = cast("bytes", request.data or b"")
    if request.headers.get("Content-Encoding", "") not in ("deflate", "zlib"):
        return body
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(body, MAX_BODY_BYTES)
    except zlib.error as error:
        raise Invalid(Sentence("jobs.body_is_not_deflated", "The body is not deflated.")) from error
    if inflater.unconsumed_tail or not inflater.eof:
        raise TooLarge
    return plain


class LogEofSerializer(serializers.Serializer[Any]):
    """The length of the whole log."""

    bytes = serializers.IntegerField(min_value=0, max_value=MAX_BIGINT)


class RunnerLogEofView(RunnerView):
    """`runner/logs/eof/`."""

    @extend_schema(operation_id="runner_logs_eof", request=LogEofSerializer, responses=NEXT)
    def post(self, request: Request) -> Response:
        """Note where the log ends."""
        data = _checked(LogEofSerializer, request)
        reached = logs.finish(self.attempt, data["bytes"], self.rank.number)
        ask_flush(self.attempt.pk)
        return Response({"next": reached})


class ProgressSerializer(serializers.Serializer[Any]):
    """How far the command is."""

    fraction = serializers.FloatField(required=False, allow_null=True)
    text = serializers.CharField(required=False, allow_blank=True, allow_null=True)


class ProgressView(RunnerView):
    """`runner/progress/`."""

    @extend_schema(operation_id="runner_progress", request=ProgressSerializer, responses=OK)
    def post(self, request: Request) -> Response:
        """Show how far the command is."""
        data = _checked(ProgressSerializer, request)
        fraction = data.get("fraction")
        known = fraction is not None and math.isfinite(fraction)
        if self.rank.number:
            # The bar is that of rank 0: several would pull it to and fro.
            return Response({"ok": True})
        attempts.note_progress(
            self.attempt, fraction if known else self.attempt.run.progress, data.get("text") or ""
        )
        return Response({"ok": True})


class OutputFileSerializer(serializers.Serializer[Any]):
    """A file that the runner is about to upload."""

    path = TextField(max_length=1000, trim_whitespace=False)
    size_bytes = serializers.IntegerField(min_value=0, max_value=MAX_BIGINT)
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}$")
    kind = serializers.ChoiceField(choices=["output", "checkpoint", "model"], default="output")
    step = serializers.IntegerField(
        min_value=-MAX_BIGINT, max_value=MAX_BIGINT, required=False, allow_null=True, default=None
    )

    def validate_path(self, path: str) -> str:
        """Refuse a path that could leave the folder that it is downloaded to."""
        if path.startswith("/") or "\0" in path or ".." in path.split("/"):
            raise serializers.ValidationError(
                Sentence("jobs.path_not_relative", "A path is relative, without '..'.")
            )
        return path


class PresignSerializer(serializers.Serializer[Any]):
    """The files of one request; a checkpoint's files come together."""

    files = serializers.ListField(child=OutputFileSerializer(), max_length=10_000)


class PresignView(RunnerView):
    """`runner/outputs/presign/`."""

    @extend_schema(
        operation_id="runner_outputs_presign",
        request=PresignSerializer,
        responses=inline_serializer(
            "RunnerUploads",
            {
                "uploads": inline_serializer(
                    "RunnerUpload",
                    {
                        "path": serializers.CharField(),
                        "id": serializers.UUIDField(),
                        "url": serializers.CharField(allow_null=True),
                    },
                    many=True,
                )
            },
        ),
    )
    def post(self, request: Request) -> Response:
        """Record files and return where to upload each; null if its bytes are stored already."""
        data = _checked(PresignSerializer, request)
        files = [OutputFile(**file) for file in data["files"]]
        uploads = [
            {"path": file.path, "id": str(one.artifact.pk), "url": one.url}
            for file, one in zip(files, self._announce(files), strict=True)
        ]
        return Response({"uploads": uploads})

    def _announce(self, files: list[OutputFile]) -> list[OutputUpload]:
        """Record the files, those of other ranks than 0 in a folder of their own."""
        number = self.rank.number
        kept = [replace(one, path=outputs.path_of_rank(number, one.path)) for one in files]
        return outputs.announce(self.attempt, kept)


class CompleteSerializer(serializers.Serializer[Any]):
    """The files whose bytes have been put."""

    ids = serializers.ListField(child=serializers.UUIDField(), max_length=10_000)


class CompleteView(RunnerView):
    """`runner/outputs/complete/`."""

    @extend_schema(
        operation_id="runner_outputs_complete",
        request=CompleteSerializer,
        responses=inline_serializer("RunnerOutputStates", {"states": serializers.DictField()}),
    )
    def post(self, request: Request) -> Response:
        """Have uploaded files verified; they are durable once a worker has hashed them."""
        data = _checked(CompleteSerializer, request)
        found = outputs.complete(self.attempt, data["ids"])
        return Response({"states": {str(one.pk): one.state for one in found}})


class ExitView(RunnerView):
    """`runner/exit/`."""

    @extend_schema(operation_id="runner_exit", request=ExitSerializer, responses=OK)
    def post(self, request: Request) -> Response:
        """Note how the command ended and settle the attempt."""
        data = _checked(ExitSerializer, request)
        word = check_exit_report(data)
        attempts.note_exit(self.attempt.pk, word.report, word.evidence, self.rank.number)
        return Response({"ok": True})


def _checked(serializer_class: type[serializers.Serializer[Any]], request: Request) -> Any:
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data
