"""Bodies of requests, and the requests that ask or do something beside storing."""

from __future__ import annotations

from typing import Any

import yaml

from .access import Access, User
from .answers import Answer, json_answer
from .deletion import Deletion
from .errors import bad_request, invalid, unsupported, wrong
from .logs import Logs
from .machinery import Machinery, Options
from .pods import Pods
from .requests import Request
from .schemas import check_types, decode_failure, duplicates, parse_json, shape_of, unknown
from .store import timestamp

Json = dict[str, Any]


class Questions:
    """The common part of all verbs: options, bodies, reviews and verbs of pods."""

    def __init__(self, machinery: Machinery, access: Access, logs: Logs) -> None:
        self.machinery = machinery
        self.store = machinery.store
        self.access = access
        self.logs = logs
        self.deletion = Deletion(machinery)
        self.pods = Pods(machinery, self.deletion)

    def _options(self, request: Request) -> Options:
        dry = request.query.get("dryRun", "")
        if dry not in ("", "All"):
            cause = unsupported("dryRun", dry, ["All"])
            raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
        return Options(
            manager=request.manager,
            dry_run=dry == "All",
            force=request.query.get("force") == "true",
        )

    def _body(self, request: Request, options: Options) -> Json:
        resource = request.kind
        if request.content_type in ("application/yaml", "application/apply-patch+yaml"):
            body = yaml.safe_load(request.body)
        else:
            body = parse_json(request.body, resource.kind)
        if not isinstance(body, dict):
            text = "couldn't get version/kind; json parse error: no object"
            raise bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): {text}"
            )
        self.machinery.check_kind(resource, body)
        self._check_fields(request, body, options, duplicates(body))
        return body

    def _check_fields(
        self, request: Request, body: Json, options: Options, twice: list[str]
    ) -> None:
        resource, shape = request.kind, shape_of(request.kind)
        strange = unknown(body, shape)
        mode = request.query.get("fieldValidation", "Warn")
        faults = [f'unknown field "{path}"' for path in strange]
        faults += [f'duplicate field "{path}"' for path in twice]
        if faults and mode == "Strict":
            raise decode_failure(resource, f"strict decoding error: {', '.join(faults)}")
        if mode == "Warn":
            options.warnings += faults
        if not resource.custom and shape is not None and (why := check_types(body, shape)):
            raise decode_failure(resource, why)

    def _review(self, request: Request) -> Answer:
        body = self._body(request, Options())
        spec, user = body.get("spec") or {}, request.user
        answer: Json = {"kind": request.kind.kind, "apiVersion": request.kind.api_version}
        answer["metadata"] = {}
        if request.kind.kind == "SelfSubjectReview":
            answer["metadata"] = {"creationTimestamp": self.store.now()}
            answer["status"] = {"userInfo": user.info()}
            return json_answer(201, answer)
        answer["spec"] = _without_empty(spec)
        if request.kind.kind == "SelfSubjectRulesReview":
            answer["spec"] = {}
            answer["status"] = self.access.review_rules(user, spec.get("namespace", ""))
        elif request.kind.kind == "TokenReview":
            answer["status"] = self.access.review_token(spec)
        else:
            if request.kind.kind == "SubjectAccessReview":
                user = _subject(spec)
            answer["status"] = self.access.review_access(user, spec)
        return json_answer(201, answer)

    def _pod_verb(self, request: Request) -> Answer:
        body = parse_json(request.body, request.kind.kind)
        namespace, name = request.place
        if request.part == "eviction":
            return json_answer(201, self.pods.evict(namespace, name, body))
        if request.part == "binding":
            self.pods.bind(namespace, name, body["target"]["name"])
            return json_answer(
                201,
                {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Success",
                    "code": 201,
                },
            )
        return self._token(request, body)

    def _token(self, request: Request, body: Json) -> Answer:
        account = self.machinery.get(request.kind, *request.place)
        spec = body.get("spec") or {}
        seconds = spec.get("expirationSeconds") or 3600
        if seconds < 600:
            why = "may not specify a duration less than 10 minutes"
            cause = wrong("spec.expirationSeconds", str(seconds), why)
            raise invalid("authentication.k8s.io", "TokenRequest", request.name, [cause])
        reference, pod = spec.get("boundObjectRef"), None
        if reference and reference.get("kind") == "Pod":
            pods = self.machinery.kind("pods.")
            pod = self.machinery.get(pods, request.namespace, reference["name"])
        audiences = spec.get("audiences") or list(self.access.signer.default_audiences)
        token, end = self.access.signer.make(
            request.namespace, account, audiences=audiences, seconds=seconds, pod=pod
        )
        metadata = {
            "name": request.name,
            "namespace": request.namespace,
            "uid": account["metadata"]["uid"],
            "creationTimestamp": self.store.now(),
        }
        return json_answer(
            201,
            {
                "kind": "TokenRequest",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": metadata,
                "spec": {
                    "audiences": audiences,
                    "expirationSeconds": seconds,
                    "boundObjectRef": reference,
                },
                "status": {"token": token, "expirationTimestamp": timestamp(end)},
            },
        )


def _subject(spec: Json) -> User:
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""))


def _without_empty(spec: Json) -> Json:
    return {
        key: {name: item for name, item in value.items() if item != ""}
        if isinstance(value, dict)
        else value
        for key, value in spec.items()
    }
