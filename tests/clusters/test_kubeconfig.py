"""Kubeconfigs are data: each field that would run or read something here is refused by name."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from atom.clusters.kubernetes.errors import KubeconfigRefused
from atom.clusters.kubernetes.kubeconfig import ClusterAccess, parse_kubeconfig
from atom.clusters.kubernetes.kubeconfig_yaml import MAX_CHARACTERS
from atom_sdk.sentences import Sentence
from tests.clusters.api_server import TOKEN, Authority, encoded, kubeconfig

SERVER = "https://k8s.example:6443"
AUTHORITY = Authority()
PAIR = AUTHORITY.pair()


def refusal(text: str, context: str = "") -> Sentence:
    """Return why the text is refused."""
    with pytest.raises(KubeconfigRefused) as refused:
        parse_kubeconfig(text, context)
    problem = refused.value
    assert (problem.status, problem.code) == (422, "kubeconfig_refused")
    assert isinstance(problem.detail, Sentence), problem.detail
    return problem.detail


def of_user(user: Mapping[str, Any]) -> str:
    return kubeconfig(SERVER, AUTHORITY.pem, user)


def of_cluster(cluster: Mapping[str, Any]) -> str:
    return kubeconfig(SERVER, AUTHORITY.pem, None, cluster)


def test_a_context_gives_the_server_the_authority_and_a_token() -> None:
    access = parse_kubeconfig(kubeconfig(f"{SERVER}/", AUTHORITY.pem))

    assert (access.server, access.context, access.namespace) == (SERVER, "main", "jobs")
    assert (access.token, access.authority_pem) == (TOKEN, AUTHORITY.pem)
    assert ClusterAccess.from_text(access.as_text()) == access
    assert TOKEN not in repr(access)


def test_a_certificate_with_its_key_is_taken() -> None:
    user = {
        "client-certificate-data": encoded(PAIR.certificate),
        "client-key-data": encoded(PAIR.key),
    }
    access = parse_kubeconfig(of_user(user))

    assert (access.certificate_pem, access.key_pem) == (PAIR.certificate, PAIR.key)
    assert PAIR.key not in repr(access)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("exec", {"command": "touch", "args": ["/tmp/x"]}, "clusters.kubeconfig_exec"),
        ("exec", None, "clusters.kubeconfig_exec"),
        ("auth-provider", {"name": "gcp"}, "clusters.kubeconfig_auth_provider"),
        ("tokenFile", "/etc/passwd", "clusters.kubeconfig_token_file"),
        ("client-certificate", "/etc/passwd", "clusters.kubeconfig_certificate_path"),
        ("client-key", "/etc/passwd", "clusters.kubeconfig_certificate_path"),
        ("username", "admin", "clusters.kubeconfig_basic_auth"),
        ("password", "secret", "clusters.kubeconfig_basic_auth"),
        ("as", "system:masters", "clusters.kubeconfig_unknown_field"),
        ("Exec", {"command": "touch"}, "clusters.kubeconfig_unknown_field"),
    ],
)
def test_fields_of_users_are_refused_by_their_names(field: str, value: Any, code: str) -> None:
    said = refusal(of_user({"token": TOKEN, field: value}))

    assert (said.code, said.params["place"]) == (code, f"users[0].user.{field}")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("certificate-authority", "/etc/passwd", "clusters.kubeconfig_certificate_path"),
        ("proxy-url", "http://proxy:3128", "clusters.kubeconfig_proxy"),
        ("insecure-skip-tls-verify", True, "clusters.kubeconfig_insecure"),
        ("surprise", "x", "clusters.kubeconfig_unknown_field"),
    ],
)
def test_fields_of_clusters_are_refused_by_their_names(field: str, value: Any, code: str) -> None:
    said = refusal(of_cluster({field: value}))

    assert (said.code, said.params["place"]) == (code, f"clusters[0].cluster.{field}")


def test_a_field_is_refused_in_a_context_that_is_not_chosen() -> None:
    config = yaml.safe_load(kubeconfig(SERVER, AUTHORITY.pem))
    config["users"].append({"name": "other", "user": {"exec": {"command": "id"}}})

    said = refusal(yaml.safe_dump(config))

    assert said.params["place"] == "users[1].user.exec"


@pytest.mark.parametrize(
    "server",
    [
        "http://k8s.example",
        "k8s.example:6443",
        "",
        "https://",
        "https://user:word@k8s.example",
        "https://a@127.0.0.1",
        "https://k8s.example?x=1",
        "https://k8s.example#x",
        "https://k8s.example:99999",
        "https://k8s.example:0",
        "https://k8s.example\\@127.0.0.1",
        "https://k8s.exa\nmple",
        "https://[::1",
        "file:///etc/passwd",
        "https://①②⑦.⓪.⓪.①",
    ],
)
def test_the_server_is_a_plain_https_address(server: str) -> None:
    said = refusal(kubeconfig(server, AUTHORITY.pem))
    assert said.code == "clusters.server_not_https"


def test_the_server_may_have_a_path_that_goes_down_only() -> None:
    path = "/k8s/clusters/c-1"
    assert parse_kubeconfig(kubeconfig(f"{SERVER}{path}", AUTHORITY.pem)).server == SERVER + path
    assert refusal(kubeconfig(f"{SERVER}/a/../b", AUTHORITY.pem)).code == (
        "clusters.server_path_wrong"
    )


def test_a_context_is_named_or_the_current_one() -> None:
    config = yaml.safe_load(kubeconfig(SERVER, AUTHORITY.pem))
    other = {"name": "other", "context": {"cluster": "c", "user": "u", "namespace": "other"}}
    config["contexts"].append(other)
    text = yaml.safe_dump(config)
    assert parse_kubeconfig(text).namespace == "jobs"
    assert parse_kubeconfig(text, "other").namespace == "other"
    said = refusal(text, "third")
    assert said.code == "clusters.kubeconfig_context_unknown"
    assert said.params["contexts"] == "main, other"
    del config["current-context"]
    assert refusal(yaml.safe_dump(config)).code == "clusters.kubeconfig_context_unknown"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: &x [1]\nb: *x", "clusters.kubeconfig_alias"),
        ("a: &x 1", "clusters.kubeconfig_alias"),
        ("[" * 100 + "]" * 100, "clusters.kubeconfig_too_deep"),
        ("[" + "1," * 6000 + "]", "clusters.kubeconfig_too_deep"),
        ("a: 1\na: 2", "clusters.kubeconfig_key_twice"),
        ("? [1]\n: 2", "clusters.kubeconfig_key_twice"),
        ("a: [", "clusters.kubeconfig_not_yaml"),
        ("a: 1\n---\nb: 2", "clusters.kubeconfig_not_yaml"),
        ("a: \x00", "clusters.kubeconfig_not_yaml"),
        ("a: \ud800", "clusters.kubeconfig_not_yaml"),
        ("x" * (MAX_CHARACTERS + 1), "clusters.kubeconfig_too_large"),
        ("", "clusters.kubeconfig_wrong_value"),
        ("[]", "clusters.kubeconfig_wrong_value"),
        ("!!python/object/apply:os.system [id]", "clusters.kubeconfig_wrong_value"),
        ("{users: {}, clusters: [], contexts: []}", "clusters.kubeconfig_wrong_value"),
    ],
)
def test_texts_that_are_no_kubeconfig(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_a_bomb_of_aliases_is_refused_before_it_is_read() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert refusal("\n".join(lines)).code == "clusters.kubeconfig_alias"


def test_an_error_of_yaml_repeats_nothing_of_the_file() -> None:
    said = refusal(f"users:\n- token: {TOKEN}\n  x: [")
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ({}, "clusters.kubeconfig_no_credentials"),
        ({"token": ""}, "clusters.kubeconfig_no_credentials"),
        ({"token": "a\r\nX-Remote-User: admin"}, "clusters.kubeconfig_wrong_value"),
        ({"client-certificate-data": encoded(PAIR.certificate)}, "clusters.kubeconfig_wrong_value"),
        (
            {"client-certificate-data": "!", "client-key-data": encoded(PAIR.key)},
            "clusters.kubeconfig_wrong_value",
        ),
        (
            {"client-certificate-data": encoded("x"), "client-key-data": encoded(PAIR.key)},
            "clusters.kubeconfig_wrong_value",
        ),
        (
            {
                "client-certificate-data": encoded(PAIR.certificate),
                "client-key-data": encoded(AUTHORITY.pair().key),
            },
            "clusters.kubeconfig_key_mismatch",
        ),
    ],
)
def test_credentials_that_cannot_be_used(user: Mapping[str, Any], code: str) -> None:
    assert refusal(of_user(user)).code == code


FIELDS = (
    "users", "clusters", "contexts", "name", "user", "cluster", "context", "token", "exec",
    "server", "namespace", "certificate-authority-data", "current-context", "client-key-data",
)  # fmt: skip
NAMES = st.sampled_from(FIELDS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(string.printable, max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5).map(yaml.safe_dump) | st.text(max_size=200))
def test_any_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(KubeconfigRefused) as refused:
        parse_kubeconfig(text)
    assert isinstance(refused.value.detail, Sentence)


@given(st.sampled_from(["users", "clusters", "contexts"]), NAMES, VALUES)
def test_a_kubeconfig_with_one_other_value_is_taken_or_refused(
    part: str, name: str, value: Any
) -> None:
    config = yaml.safe_load(kubeconfig(SERVER, AUTHORITY.pem))
    config[part][0][part.removesuffix("s")][name] = value
    try:
        access = parse_kubeconfig(yaml.safe_dump(config))
    except KubeconfigRefused:
        return
    assert access.server.startswith("https://")
    assert access.token == (value if (part, name) == ("users", "token") else TOKEN)
