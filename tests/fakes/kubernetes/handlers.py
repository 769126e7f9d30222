"""The verbs of requests, from the wire to the machinery and back."""

from __future__ import annotations

from typing import Any

import yaml

from .answers import Answer, error_answer, json_answer
from .errors import ApiError, PlainError, bad_request, invalid, required, wrong
from .machinery import Options
from .paging import list_text, object_text, selection
from .patches import copy, json_patch, merge_patch, strategic_merge
from .questions import Questions
from .registry import VERSION
from .requests import Request
from .resources import Resource
from .schemas import check_types, parse_json, shape_of, unknown
from .store import encode

Json = dict[str, Any]

BODY_LIMIT = 3_145_728
# kubectl reads this document before it sends an object. One without definitions lets it send all:
# the server validates. In the message, `swagger` is "2.0" and `info` has a title.
_OPENAPI = b"\x0a\x032.0\x12\x0c\x0a\x0aKubernetes"
_OPENAPI_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class Handlers(Questions):
    """All that a request can do, streams apart."""

    # --- documents ---

    def document(self, request: Request) -> Answer:
        """Answer a path that names no kind."""
        path = request.path.rstrip("/") or "/"
        if path in ("/healthz", "/readyz", "/livez"):
            text = "ok"
            if "verbose" in request.query:
                text = f"[+]ping ok\n[+]log ok\n{path[1:]} check passed\n"
            return Answer(200, text.encode(), "text/plain; charset=utf-8")
        if path == "/openapi/v2":
            return Answer(200, _OPENAPI, _OPENAPI_TYPE)
        body = self._document(path)
        if body is None:
            raise PlainError(404, "404 page not found\n")
        return json_answer(200, body)

    def _document(self, path: str) -> Json | None:
        registry = self.machinery.registry
        parts = path.split("/")[1:]
        if path == "/version":
            return VERSION
        if path == "/openid/v1/jwks":
            return self.access.signer.keys()
        if path == "/api":
            cidrs = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": cidrs}
        if path == "/apis":
            return registry.groups()
        if parts[0] == "api" and len(parts) == 2:
            return registry.resources("", parts[1])
        if parts[0] == "apis" and len(parts) == 2:
            return registry.group(parts[1])
        if parts[0] == "apis" and len(parts) == 3:
            return registry.resources(parts[1], parts[2])
        return None

    # --- verbs ---

    def answer(self, request: Request) -> Answer:
        """Answer a request on a kind."""
        request.check_verb()
        if not request.kind.stored:
            return self._review(request)
        if request.part in ("binding", "eviction", "token"):
            return self._pod_verb(request)
        verbs = {
            "GET": self._get,
            "POST": self._create,
            "PUT": self._update,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }
        return verbs[request.method](request)

    def _get(self, request: Request) -> Answer:
        if not request.name:
            return Answer(200, list_text(self.store, request))
        self.machinery.get(request.kind, *request.place)
        entry = self.store.entry(request.kind.store_key, *request.place)
        return Answer(200, object_text(request, entry) if entry else b"")

    def _create(self, request: Request) -> Answer:
        options = self._options(request)
        body = self._body(request, options)
        obj = self.machinery.create(request.kind, request.namespace, body, options)
        return json_answer(201, _in_version(request, obj), options.warnings)

    def _update(self, request: Request) -> Answer:
        options = self._options(request)
        body = self._body(request, options)
        body.setdefault("metadata", {})
        if request.part == "finalize":
            return self._finalize(request, body)
        place = request.place
        part = request.part if request.part == "status" else ""
        obj = self.machinery.update(request.kind, *place, body, options, part)
        return json_answer(200, _in_version(request, obj), options.warnings)

    def _finalize(self, request: Request, body: Json) -> Answer:
        def change(old: Json) -> Json:
            finalizers = (body.get("spec") or {}).get("finalizers") or []
            return old | {"spec": (old.get("spec") or {}) | {"finalizers": finalizers}}

        obj = self.machinery.replace(request.kind, ("", request.name), change)
        return json_answer(200, obj)

    def _patch(self, request: Request) -> Answer:
        options, kind = self._options(request), request.content_type
        if kind == "application/apply-patch+yaml":
            return self._apply(request, options)
        patchers = {
            "application/merge-patch+json": merge_patch,
            "application/json-patch+json": json_patch,
            "application/strategic-merge-patch+json": strategic_merge,
        }
        if request.kind.custom:
            patchers.pop("application/strategic-merge-patch+json")
        if kind not in patchers:
            raise _unsupported_media(request.kind)
        patch = parse_json(request.body, request.kind.kind)

        def change(old: Json) -> Json:
            patched: Json = copy(patchers[kind](old, patch))
            self._check_patched(request, patched, options)
            metadata = patched["metadata"]
            # Only a patch that names the version asks for it.
            if metadata.get("resourceVersion") == old["metadata"]["resourceVersion"]:
                metadata.pop("resourceVersion")
            return patched

        part = request.part if request.part == "status" else ""
        obj = self.machinery.replace(request.kind, request.place, change, options, part)
        return json_answer(200, _in_version(request, obj), options.warnings)

    def _check_patched(self, request: Request, patched: Json, options: Options) -> None:
        shape = shape_of(request.kind)
        strange = unknown(patched, shape)
        if strange and request.query.get("fieldValidation") == "Strict":
            names = ", ".join(f'unknown field "{path}"' for path in strange)
            raise bad_request(f"strict decoding error: {names}")
        options.warnings += [f'unknown field "{path}"' for path in strange]
        if request.kind.custom or shape is None:
            return
        if why := check_types(patched, shape):
            shown = encode(encode(patched).decode()).decode()
            raise invalid("", "", "", [wrong("patch", shown, why)])

    def _apply(self, request: Request, options: Options) -> Answer:
        if not request.query.get("fieldManager"):
            cause = required("fieldManager", "is required for apply patch")
            raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
        config = yaml.safe_load(request.body)
        self.machinery.check_kind(request.kind, config)
        part = request.part if request.part == "status" else ""
        obj, created = self.machinery.apply(request.kind, request.place, config, options, part)
        return json_answer(201 if created else 200, _in_version(request, obj), options.warnings)

    def _delete(self, request: Request) -> Answer:
        body: Json = {}
        if request.body:
            body = parse_json(request.body, "DeleteOptions") or {}
        for key in ("propagationPolicy", "orphanDependents"):
            if key in request.query:
                body.setdefault(key, request.query[key])
        seconds = request.number("gracePeriodSeconds")
        if seconds is not None:
            body.setdefault("gracePeriodSeconds", seconds)
        options = self._options(request)
        options.dry_run = options.dry_run or "All" in (body.get("dryRun") or [])
        if request.name:
            try:
                obj = self.deletion.delete(request.kind, *request.place, body, options)
            except ApiError as failure:
                answer = error_answer(failure)
                answer.warnings += options.warnings
                return answer
            return json_answer(200, obj, options.warnings)
        match = selection(request)
        items = self.deletion.delete_collection(
            request.kind, request.namespace, match, body, options
        )
        return json_answer(200, self._list(request.kind, items), options.warnings)

    def _list(self, resource: Resource, items: list[Json]) -> Json:
        naming = () if resource.custom else ("kind", "apiVersion")
        return {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": {"resourceVersion": str(self.store.version)},
            "items": [{k: v for k, v in item.items() if k not in naming} for item in items],
        }


def _in_version(request: Request, obj: Json) -> Json:
    version = request.kind.api_version
    return obj if obj.get("apiVersion") == version else obj | {"apiVersion": version}


def _unsupported_media(resource: Resource) -> ApiError:
    if not resource.custom:
        text = "415: Unsupported Media Type"
        return ApiError(415, text, "UnsupportedMediaType", {})
    types = (
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
    return ApiError(
        415,
        "the body of the request was in an unknown format - accepted media types include: " + types,
        "UnsupportedMediaType",
    )
