"""Looking into versions: entries, counts, differences."""

from __future__ import annotations

from dataclasses import replace

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.core.errors import Invalid
from atom.core.pagination import decode_cursor, encode_cursor, parse_limit
from atom.core.sentences import required
from atom.datasets.browsing.api.entry_serializers import (
    DIFF_KINDS,
    DiffPageSerializer,
    EntryPageSerializer,
    EntrySerializer,
    VersionStatsSerializer,
)
from atom.datasets.browsing.api.rendering import EntryRenderer, render_differences
from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.diff_pages import (
    WantedDifferences,
    chosen,
    label_changes,
    position_of,
    rows_at,
    summarize,
)
from atom.datasets.browsing.engines.drawn_objects import shown
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import DELIMITER, FolderPage, PageRequest
from atom.datasets.browsing.queries import add_file_filters, combine_with_view
from atom.datasets.browsing.reads import compare, compare_objects, open_version
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.errors import EntryNotFound
from atom.datasets.models import Dataset, resolve_ref
from atom.datasets.sentences import file_unknown
from atom_sdk.sentences import Sentence

_LIMIT = OpenApiParameter("limit", int, description="At most 200; default 50.")
_CURSOR = OpenApiParameter("cursor", str, description="`next` of the last page.")
_OFFSET_DIGITS = 15
_MAX_KIND = 127
_BOOLEANS = {"true": True, "false": False}


class EntryListView(DatasetScopedView, APIView):
    """The files of a version, by folder."""

    @extend_schema(
        operation_id="version_entries",
        parameters=[
            OpenApiParameter("prefix", str, description="Only paths that begin with this."),
            OpenApiParameter("delimiter", str, enum=["/"], description="Group by folder."),
            OpenApiParameter("label", str),
            OpenApiParameter("split", str),
            OpenApiParameter("labelled", bool),
            OpenApiParameter(
                "type", str, description="A media type, a family like image/, an ending like .png."
            ),
            OpenApiParameter("min_size", int, description="Bytes, this number included."),
            OpenApiParameter("max_size", int, description="Bytes, this number included."),
            OpenApiParameter(
                "where", str, description="A condition as after SQL's WHERE: label = 'cat'."
            ),
            OpenApiParameter("view", str, description="Only files that this saved view has."),
            _LIMIT,
            _CURSOR,
            OpenApiParameter(
                "offset", int, description="Begin at this matching file, instead of a cursor."
            ),
        ],
        responses=EntryPageSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return folders and files in path order; `limit` counts both.

        Under `where` a page may be short and still have a next one: so much was read for it.
        """
        wanted, page_request = _filter_of(request, self.dataset), _page_of(request)
        browser = open_version(self.version)
        page = _page(browser, page_request, wanted, _offset_of(request))
        renderer = EntryRenderer(self.project)
        count = browser.count(page_request.prefix, wanted)
        return Response(
            {
                "folders": [_folder(prefix) for prefix in page.folders],
                "results": renderer.render_page(browser, page.rows),
                "next": None if page.next is None else encode_cursor([page.next]),
                "total": count.number,
                "total_is_exact": count.stopped_at is None,
                "counted_before": count.stopped_at,
            }
        )


class EntryView(DatasetScopedView, APIView):
    """One file of a version."""

    @extend_schema(
        operation_id="version_entry",
        parameters=[OpenApiParameter("path", str, required=True)],
        responses=EntrySerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the entry at a path."""
        path = request.query_params.get("path", "")
        browser = open_version(self.version)
        row = browser.find(path)
        if row is None:
            raise EntryNotFound(file_unknown(self.dataset.name, ref, path))
        drawn = shown(browser.drawn([row]).get(path))
        return Response(EntryRenderer(self.project).render(row, drawn))


class StatsView(DatasetScopedView, APIView):
    """Counts of a version."""

    @extend_schema(responses=VersionStatsSerializer, operation_id="version_stats")
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return counts by label, split and media type."""
        return Response(vars(open_version(self.version).stats()))


class DiffView(DatasetScopedView, APIView):
    """The changes between two versions."""

    @extend_schema(
        operation_id="dataset_diff",
        parameters=[
            OpenApiParameter("from", str, required=True),
            OpenApiParameter("to", str, required=True),
            OpenApiParameter("kind", str, enum=DIFF_KINDS),
            OpenApiParameter("prefix", str, description="Only paths that begin with this."),
            OpenApiParameter(
                "old_label", str, description="With new_label: of this label before; empty: none."
            ),
            OpenApiParameter("new_label", str, description="And of this one after."),
            _LIMIT,
            _CURSOR,
            OpenApiParameter(
                "offset", int, description="Begin at this difference, instead of a cursor."
            ),
        ],
        responses=DiffPageSerializer,
    )
    def get(self, request: Request, project: str, dataset: str) -> Response:
        """Return the differences in path order, with a count of each kind."""
        old, new = (resolve_ref(self.dataset, _required(request, name)) for name in ("from", "to"))
        for version in (old, new):
            version.dataset = self.dataset
        found = compare(old, new)
        rows = chosen(found, _differences_of(request))
        limit = parse_limit(request)
        start = _offset_of(request) or position_of(rows, _start_of(request))
        page, following = rows_at(rows, start, limit), rows_at(rows, start + limit, 1)
        renderer = EntryRenderer(self.project)
        browsers = open_version(old), open_version(new)
        return Response(
            {
                "summary": summarize(found),
                "objects": compare_objects(old, new),
                "label_changes": label_changes(found),
                "total": len(rows),
                "results": render_differences(page, browsers, renderer),
                "next": encode_cursor(following[0][:2]) if following else None,
            }
        )


def _folder(prefix: str) -> dict[str, str]:
    return {"name": prefix.rstrip(DELIMITER).rpartition(DELIMITER)[2], "prefix": prefix}


def _page_of(request: Request) -> PageRequest:
    query = request.query_params
    delimiter = query.get("delimiter", "")
    if delimiter not in {"", DELIMITER}:
        raise Invalid(
            errors={"delimiter": [Sentence("datasets.delimiter_unknown", "Only / is supported.")]}
        )
    start = decode_cursor(query["cursor"], 1, allow_nul=True)[0] if query.get("cursor") else ""
    return PageRequest(query.get("prefix", ""), bool(delimiter), parse_limit(request), start)


def _offset_of(request: Request) -> int:
    given = request.query_params.get("offset", "0")
    if not (given.isascii() and given.isdigit() and len(given) <= _OFFSET_DIGITS):
        raise Invalid(
            errors={"offset": [Sentence("fields.not_negative", "Give a whole number from 0 on.")]}
        )
    offset = int(given)
    for other in ("cursor", "delimiter"):
        if offset and request.query_params.get(other):
            raise Invalid(
                errors={
                    "offset": [
                        Sentence(
                            "datasets.offset_or_cursor",
                            "Give an offset or a {parameter}, not both.",
                            parameter=other,
                        )
                    ]
                }
            )
    return offset


def _page(
    browser: VersionBrowser, request: PageRequest, wanted: EntryFilter, offset: int
) -> FolderPage:
    if not offset:
        return browser.page(request, wanted)
    start = browser.path_at(request.prefix, wanted, offset)
    return FolderPage() if start is None else browser.page(replace(request, start=start), wanted)


def _filter_of(request: Request, dataset: Dataset) -> EntryFilter:
    query = request.query_params
    labelled = query.get("labelled", "")
    if labelled and labelled not in _BOOLEANS:
        raise Invalid(
            errors={"labelled": [Sentence("fields.true_or_false", "Give true or false.")]}
        )
    return EntryFilter(
        label=query.get("label") or None,
        split=query.get("split") or None,
        labelled=_BOOLEANS.get(labelled),
        where=add_file_filters(
            combine_with_view(dataset, query.get("where", ""), query.get("view", "")),
            _kind_of_file(request),
            (_size_of(request, "min_size"), _size_of(request, "max_size")),
        ),
    )


def _kind_of_file(request: Request) -> str:
    kind: str = request.query_params.get("type", "")
    if len(kind) > _MAX_KIND or not kind.isprintable():
        raise Invalid(
            errors={
                "type": [
                    Sentence(
                        "datasets.media_type_invalid",
                        "Give a media type like image/png, image/ or .png.",
                    )
                ]
            }
        )
    return kind


def _size_of(request: Request, name: str) -> int | None:
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _OFFSET_DIGITS):
        raise Invalid(
            errors={name: [Sentence("datasets.bytes_invalid", "Give a whole number of bytes.")]}
        )
    return int(text)


def _required(request: Request, name: str) -> str:
    value: str = request.query_params.get(name, "")
    if not value:
        raise Invalid(errors={name: [required()]})
    return value


def _kind_of(request: Request) -> str | None:
    kind = request.query_params.get("kind") or None
    if kind is not None and kind not in DIFF_KINDS:
        raise Invalid(
            errors={
                "kind": [
                    Sentence(
                        "fields.one_of", "Give one of {choices}.", choices=", ".join(DIFF_KINDS)
                    )
                ]
            }
        )
    return kind


def _differences_of(request: Request) -> WantedDifferences:
    query = request.query_params
    old, new = query.get("old_label"), query.get("new_label")
    if (old is None) != (new is None):
        missing = "new_label" if new is None else "old_label"
        raise Invalid(
            errors={
                missing: [
                    Sentence("datasets.labels_together", "Give old_label and new_label together.")
                ]
            }
        )
    labels = None if old is None else (old or None, new or None)
    return WantedDifferences(_kind_of(request), query.get("prefix", ""), labels)


def _start_of(request: Request) -> tuple[str, str]:
    cursor = request.query_params.get("cursor")
    if not cursor:
        return "", ""
    path, kind = decode_cursor(cursor, 2)
    return path, kind
