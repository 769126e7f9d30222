"""Every refused request is a problem document with a code and an action that helps."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from rest_framework import serializers

from atom.core.errors import Invalid
from atom.core.field_errors import codes_of, flatten_errors
from atom_sdk.sentences import Sentence
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
DATASETS = "/api/v1/projects/vision/datasets/"


@pytest.fixture
def member(client: Client) -> Client:
    client.force_login(make_member(make_project("vision"), "admin"))
    return client


def problem_of(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Return the problem document, checked to be a whole one."""
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["detail"]
    assert problem["action"]
    return problem


@pytest.mark.parametrize("path", ["/api/v1/docs/", "/api/v1/schema/"])
def test_a_browser_without_a_session_signs_in_and_comes_back(client: Client, path: str) -> None:
    answer = client.get(f"{path}?a=1", headers=BROWSER)
    assert answer.status_code == 302
    assert answer["Location"] == f"/login?next={path.replace('/', '%2F')}%3Fa%3D1"


@pytest.mark.parametrize("path", ["/api/v1/docs/", "/api/v1/schema/"])
@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/yaml"])
def test_a_program_without_a_token_gets_a_problem(client: Client, path: str, accept: str) -> None:
    answer = client.get(path, headers={"Accept": accept})
    problem_of(answer, 401, "not_authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_wrong_token_is_a_problem_for_a_browser_too(client: Client) -> None:
    headers = {**BROWSER, "Authorization": "Bearer atom_abc_def"}
    problem_of(client.get("/api/v1/docs/", headers=headers), 401, "bad_token")


def test_the_page_and_the_description_are_there_for_members(member: Client) -> None:
    assert b"swagger" in member.get("/api/v1/docs/", headers=BROWSER).content.lower()
    assert member.get("/api/v1/schema/").status_code == 200


@pytest.mark.parametrize("address", ["/api/v1/nope", "/api/v1/nope/", "/api/v1/projects//"])
def test_an_unknown_address(member: Client, address: str) -> None:
    problem_of(member.get(address), 404, "not_found")


def test_an_address_without_its_slash_is_named_with_it(member: Client) -> None:
    problem = problem_of(member.get("/api/v1/projects?limit=5"), 404, "slash_missing")
    assert problem["detail"] == "There is /api/v1/projects/ with a slash at its end."
    body = {"name": "digits"}
    answer = member.post(DATASETS.rstrip("/"), body, content_type="application/json")
    problem_of(answer, 404, "slash_missing")


@pytest.mark.parametrize("body", ["{", '{"name": }', "nonsense", "\x80"])
def test_malformed_json_says_where(member: Client, body: str) -> None:
    answer = member.post(DATASETS, body, content_type="application/json")
    problem = problem_of(answer, 400, "malformed_body")
    assert "errors" not in problem
    assert "JSON" in problem["detail"]


@pytest.mark.parametrize(
    "body", [r'{"name": "\ud800"}', r'{"name": {"\uDFFF": 1}}', r'["a\udc00b"]']
)
def test_half_of_a_surrogate_pair_is_no_text(member: Client, body: str) -> None:
    answer = member.post(DATASETS, body, content_type="application/json")
    assert "half of a character" in problem_of(answer, 400, "malformed_body")["detail"]


@pytest.mark.parametrize("body", ['{"name": 1e999}', '{"name": {"a": [-1e400]}}'])
def test_a_number_that_is_read_as_infinite_is_refused(member: Client, body: str) -> None:
    """No answer could repeat it: what it was stored in could not be read any more."""
    answer = member.post(DATASETS, body, content_type="application/json")
    assert "number" in problem_of(answer, 400, "malformed_body")["detail"]


def test_a_whole_surrogate_pair_is_a_character(member: Client) -> None:
    body = r'{"name": "pets", "description": "\ud83d\ude00"}'
    answer = member.post(DATASETS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["description"]) == (201, "\U0001f600")


def test_a_problem_repeats_half_of_a_surrogate_pair_as_its_escape() -> None:
    problem = Invalid("no \ud800", errors={"kind": ["\udfff?"]}).as_problem()
    assert (problem["detail"], problem["errors"]) == (r"no \ud800", {"kind": [r"\udfff?"]})


def test_a_long_choice_is_not_repeated_whole() -> None:
    class Body(serializers.Serializer[Any]):
        kind = serializers.ChoiceField(choices=["a", "b"])

    body = Body(data={"kind": "x" * 300_000})
    assert not body.is_valid()
    problem = Invalid(errors=flatten_errors(body.errors)).as_problem()
    assert problem["errors"]["kind"][0].endswith('xx…" is not a valid choice.')
    assert problem["error_codes"]["kind"][0]["code"] == "invalid_choice"
    assert len(str(problem)) < 2000


def test_a_number_is_no_name(member: Client) -> None:
    answer = member.post(DATASETS, '{"name": 123}', content_type="application/json")
    assert problem_of(answer, 400, "invalid")["errors"]["name"] == ["Not a valid string."]


def test_a_number_is_no_description(member: Client) -> None:
    body = '{"name": "shapes", "description": 123}'
    answer = member.post(DATASETS, body, content_type="application/json")
    assert problem_of(answer, 400, "invalid")["errors"]["description"] == ["Not a valid string."]


def test_json_of_the_wrong_kind_names_the_fault(member: Client) -> None:
    answer = member.post(DATASETS, "[1]", content_type="application/json")
    assert problem_of(answer, 400, "invalid")["errors"]


def test_a_wrong_method_names_the_right_ones(member: Client) -> None:
    answer = member.delete(DATASETS)
    problem = problem_of(answer, 405, "method_not_allowed")
    assert "DELETE" in problem["detail"]
    assert "Allow" in problem["action"]
    assert {"GET", "POST"} <= set(answer["Allow"].split(", "))


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_wrong_content_type(member: Client, media_type: str) -> None:
    answer = member.post(DATASETS, "name=x", content_type=media_type)
    problem = problem_of(answer, 415, "unsupported_media_type")
    assert media_type in problem["detail"]


def test_a_form_of_answer_that_does_not_exist(member: Client) -> None:
    answer = member.get(DATASETS, headers={"Accept": "text/csv"})
    problem_of(answer, 406, "not_acceptable")


@pytest.mark.parametrize(
    ("address", "name", "allowed"),
    [
        ("/api/v1/audit/?in=bogus", "in", "actor, cursor, from, limit, object, project, to, verb"),
        ("/api/v1/audit/?project=bogus", "project", "vision"),
        ("/api/v1/projects/?sort=name", "sort", "cursor, limit"),
        ("/api/v1/projects/vision/runs/?order=name", "order", "created_by, cursor"),
        ("/api/v1/projects/vision/runs/?state=bogus", "state", "cancelled, cancelling"),
        ("/api/v1/projects/vision/models/?order=name", "order", "cursor, limit, q"),
        ("/api/v1/projects/vision/labelx/tasks/?state=bogus", "state", "active, completed"),
    ],
)
def test_what_a_list_does_not_know_is_refused_and_what_it_knows_is_named(
    member: Client, address: str, name: str, allowed: str
) -> None:
    problem = problem_of(member.get(address), 400, "invalid")
    assert allowed in problem["errors"][name][0]


@pytest.mark.parametrize("path", [DATASETS, "/api/v1/auth/session/"])
def test_a_database_that_is_away_is_no_defect_and_says_when_to_come_back(
    member: Client, path: str
) -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError("connection refused")

    member.raise_request_exception = False
    with connection.execute_wrapper(refuse):
        answer = member.get(path)
    problem_of(answer, 503, "unavailable")
    assert answer["Retry-After"] == "2"


@pytest.mark.parametrize("depth", [65, 1_000, 100_000])
def test_json_that_is_nested_too_deeply_is_refused(member: Client, depth: int) -> None:
    body = f'{{"name": "deep", "description": {"[" * depth}{"]" * depth}}}'
    answer = member.post(DATASETS, body, content_type="application/json")
    assert "levels deep" in problem_of(answer, 400, "malformed_body")["detail"]


def test_a_field_that_nobody_reads_is_named(member: Client) -> None:
    answer = member.post(
        DATASETS, {"name": "digits", "bogus": 1, "nope": {}}, content_type="application/json"
    )
    errors = problem_of(answer, 400, "invalid")["errors"]
    assert sorted(errors) == ["bogus", "nope"]
    assert "description" in errors["bogus"][0]


def test_unknown_fields_and_wrong_ones_are_told_together(member: Client) -> None:
    run = {"command": ["true"], "resources": {"memory_bytes": "much", "disks": 1}}
    answer = member.post("/api/v1/projects/vision/runs/", run, content_type="application/json")
    errors = problem_of(answer, 400, "invalid")["errors"]
    assert sorted(errors) == ["resources.disks", "resources.memory_bytes"]


WRONG_VALUES: list[tuple[str, dict[str, Any], str, str, dict[str, Any]]] = [
    ("datasets/", {}, "name", "required", {}),
    ("datasets/", {"name": ""}, "name", "blank", {}),
    ("datasets/", {"name": None}, "name", "null", {}),
    ("datasets/", {"name": []}, "name", "not_text", {}),
    ("datasets/", {"name": "No!"}, "name", "slug", {}),
    ("datasets/", {"name": "x" * 64}, "name", "max_length", {"limit": 63}),
    ("datasets/", {"name": "x", "bogus": 1}, "bogus", "unknown_field", {}),
    ("runs/", {"command": "true"}, "command", "not_a_list", {}),
    ("runs/", {"resources": {"cpus": -1}}, "resources.cpus", "min_value", {"limit": 1}),
    ("runs/", {"max_retries": "many"}, "max_retries", "not_an_integer", {}),
]


@pytest.mark.parametrize(("address", "body", "field", "code", "params"), WRONG_VALUES)
def test_what_is_wrong_with_a_field_has_a_code_and_its_values(
    member: Client, address: str, body: Any, field: str, code: str, params: dict[str, Any]
) -> None:
    address = f"/api/v1/projects/vision/{address}"
    answer = member.post(address, body, content_type="application/json")
    problem = problem_of(answer, 400, "invalid")
    told = {"code": code, "params": params}
    assert told in problem["error_codes"][field], problem["errors"][field]
    assert len(problem["error_codes"][field]) == len(problem["errors"][field])


def test_sentences_of_one_code_are_told_apart() -> None:
    class Body(serializers.Serializer[Any]):
        names = serializers.ListField(max_length=2)
        side = serializers.ChoiceField(["left"])
        share = serializers.FloatField(max_value=0.5)
        at = serializers.DateTimeField()

    body = Body(data={"names": [1, 2, 3], "side": 'up "', "share": 2, "at": "soon"})
    assert not body.is_valid()
    found = codes_of(flatten_errors(body.errors))
    assert {name: (each["code"], each["params"]) for name, (each,) in found.items()} == {
        "names": ("max_items", {"limit": 2}),
        "side": ("invalid_choice", {"input": 'up "'}),
        "share": ("max_value", {"limit": 0.5}),
        "at": ("not_a_time", {}),
    }


def test_a_large_body_is_read(member: Client) -> None:
    body = {"name": "digits", "description": "x" * (5 << 20)}
    answer = member.post(DATASETS, body, content_type="application/json")
    assert list(problem_of(answer, 400, "invalid")["errors"]) == ["description"]


def test_a_host_of_somebody_else_is_a_problem(member: Client) -> None:
    problem_of(member.get(DATASETS, headers={"Host": "evil.example"}), 400, "bad_request")


def test_a_sentence_keeps_its_code_and_parameters_through_nested_serializers() -> None:
    too_long = Sentence("fields.too_long", "At most {max_characters} characters.", max_characters=3)

    class Part(serializers.Serializer[Any]):
        name = serializers.CharField()

        def validate_name(self, value: str) -> str:
            raise serializers.ValidationError(too_long)

    class Body(serializers.Serializer[Any]):
        parts = Part(many=True)

    body = Body(data={"parts": [{"name": "abcd"}]})
    assert not body.is_valid()
    errors = flatten_errors(body.errors)
    assert errors == {"parts.0.name": ["At most 3 characters."]}
    assert codes_of(errors) == {"parts.0.name": [too_long.as_code()]}
