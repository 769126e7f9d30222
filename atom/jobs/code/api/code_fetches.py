"""Code from git: requests for commits, their results, and known SSH servers."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.names import NameField, TextField
from atom.jobs.api_base import PAGE, listing, page_of
from atom.jobs.code.actions import code_fetches
from atom.jobs.code.engines.git_addresses import MAX_CHARACTERS
from atom.jobs.models import CodeFetch, GitHost


class CodeFetchRequestSerializer(serializers.Serializer[Any]):
    """Which commit of which repository."""

    url = TextField(
        max_length=MAX_CHARACTERS, help_text="https://host/path, or git@host:path for ssh."
    )
    ref = NameField(
        max_length=250,
        required=False,
        allow_blank=True,
        default="",
        help_text="A branch, a tag or all 40 characters of a commit; the default branch without.",
    )
    secret = TextField(
        max_length=100,
        required=False,
        allow_blank=True,
        default="",
        help_text="The project's secret that holds the token (https) or the private key (ssh).",
    )


class FetchProblemSerializer(serializers.Serializer[Any]):
    """Why code was not fetched."""

    code = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField()
    action = serializers.CharField()


class CodeFetchSerializer(serializers.ModelSerializer[CodeFetch]):
    """A requested commit; a run names its `code_snapshot` once it is ready."""

    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    code_snapshot = serializers.UUIDField(source="snapshot_id", allow_null=True)
    commit = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()
    author = serializers.SerializerMethodField()
    files_count = serializers.SerializerMethodField()
    submodules = serializers.SerializerMethodField()
    lfs = serializers.SerializerMethodField()
    problem = serializers.SerializerMethodField()

    class Meta:
        model = CodeFetch
        fields = (
            "id", "url", "ref", "secret", "state", "created_by", "created_at", "finished_at",
            "code_snapshot", "commit", "message", "author", "files_count", "submodules", "lfs",
            "problem",
        )  # fmt: skip

    def get_commit(self, one: CodeFetch) -> str:
        """Return the commit that the ref meant."""
        return str(one.facts.get("commit", ""))

    def get_message(self, one: CodeFetch) -> str:
        """Return the first line of its message."""
        return str(one.facts.get("message", ""))

    def get_author(self, one: CodeFetch) -> str:
        """Return the author of the commit."""
        return str(one.facts.get("author", ""))

    def get_files_count(self, one: CodeFetch) -> int:
        """Return how many files it has."""
        return int(one.facts.get("files_count", 0))

    def get_submodules(self, one: CodeFetch) -> list[str]:
        """Return where submodules are, which the snapshot lacks; the first twenty."""
        return list(one.facts.get("submodules", []))

    def get_lfs(self, one: CodeFetch) -> list[str]:
        """Return files of which the snapshot has only Git LFS's pointer; the first twenty."""
        return list(one.facts.get("lfs", []))

    @extend_schema_field(FetchProblemSerializer(allow_null=True))
    def get_problem(self, one: CodeFetch) -> dict[str, Any] | None:
        """Return why it failed."""
        return code_fetches.problem_of(one)


class CodeFetchesView(ProjectScopedView, APIView):
    """`projects/<project>/code-fetches/`."""

    required_roles: ClassVar[dict[str, str]] = {"GET": "researcher"}

    @extend_schema(
        operation_id="code_fetches_list",
        parameters=PAGE,
        responses=listing(CodeFetchSerializer, "CodeFetchPage"),
    )
    def get(self, request: Request, project: str) -> Response:
        """List the requested commits, newest first."""
        found = CodeFetch.objects.filter(project=self.project).select_related("created_by")
        return page_of(self, found, CodeFetchSerializer)

    @extend_schema(
        operation_id="code_fetches_create",
        request=CodeFetchRequestSerializer,
        responses={202: CodeFetchSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Have a commit fetched; ask for it again until its state is ready or failed."""
        serializer = CodeFetchRequestSerializer(data=request.data)
        check(serializer)
        made = code_fetches.request_fetch(
            self.project, user_of(request), **serializer.validated_data
        )
        return Response(CodeFetchSerializer(made).data, status=202)


class CodeFetchView(ProjectScopedView, APIView):
    """`projects/<project>/code-fetches/<id>/`."""

    required_roles: ClassVar[dict[str, str]] = {"GET": "researcher"}

    @extend_schema(operation_id="code_fetches_get", responses=CodeFetchSerializer)
    def get(self, request: Request, project: str, fetch_id: UUID) -> Response:
        """Return what became of it."""
        found = CodeFetch.objects.filter(project=self.project, pk=fetch_id)
        one = found.select_related("created_by").first()
        if one is None:
            raise NotFound
        return Response(CodeFetchSerializer(one).data)


class GitHostSerializer(serializers.ModelSerializer[GitHost]):
    """An SSH server that the project has fetched from."""

    class Meta:
        model = GitHost
        fields = ("name", "key", "created_at")


class GitHostsView(ProjectScopedView, APIView):
    """`projects/<project>/git-hosts/`."""

    keyset = ("name", "id")
    required_roles: ClassVar[dict[str, str]] = {"GET": "researcher"}

    @extend_schema(
        operation_id="git_hosts_list",
        parameters=PAGE,
        responses=listing(GitHostSerializer, "GitHostPage"),
    )
    def get(self, request: Request, project: str) -> Response:
        """List the SSH servers whose key is known."""
        return page_of(self, GitHost.objects.filter(project=self.project), GitHostSerializer)


class GitHostView(ProjectScopedView, APIView):
    """`projects/<project>/git-hosts/<name>/`."""

    required_roles: ClassVar[dict[str, str]] = {"DELETE": "admin"}

    @extend_schema(operation_id="git_hosts_forget", responses={204: None})
    def delete(self, request: Request, project: str, name: str) -> Response:
        """Forget the key of a server: the next one that it shows is trusted."""
        if not code_fetches.forget_host_key(self.project, user_of(request), name):
            raise NotFound
        return Response(status=204)
