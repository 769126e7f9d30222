"""Saved views: what they ask, who may change them, and where they are taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.accounts.models import AuditEvent
from atom.datasets.browsing.queries import selection_query
from atom.datasets.errors import QueryInvalid
from atom.datasets.integrity.actions.rebuild import apply_catalogue, compare_catalogue
from atom.datasets.models import Dataset, SavedView
from tests.datasets.integrity.test_rebuild import forget_catalogue
from tests.datasets.pushing import Pusher, make_pack, png, put_rows
from tests.factories.accounts import make_member


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        (("", "", []), None),
        (("size > 1", "", []), "size > 1"),
        (("", "a%/", []), r"path LIKE 'a\%/%'"),
        (("", "", ["val", "test"]), "split IN ('test', 'val')"),
        (("", "", ["train"]), "split IN ('train') OR split IS NULL"),
        (
            ("label = 'a' OR size > 1", "a/", ["train"]),
            "path LIKE 'a/%' AND (split IN ('train') OR split IS NULL)"
            " AND (label = 'a' OR size > 1)",
        ),
        (("size > 1 AND size < 9", "a/", []), "path LIKE 'a/%' AND size > 1 AND size < 9"),
    ],
)
def test_a_view_is_one_query(asked: tuple[str, str, list[str]], query: str | None) -> None:
    found = selection_query(*asked)
    assert (found and found.text) == query


def test_what_does_not_fit_into_one_query_is_refused() -> None:
    long = " OR ".join([f"path = '{'x' * 100}'"] * 34)
    assert selection_query(long, "", [])
    with pytest.raises(QueryInvalid, match="4000"):
        selection_query(long, "y" * 300, [])


def view(pusher: Pusher, name: str = "", /, **asked: Any) -> dict[str, Any]:
    """Save a view."""
    return pusher.post("views/", {"name": name or "cats", **asked})


def refused(pusher: Pusher, method: str, address: str, body: Any = None) -> tuple[int, Any]:
    answer = getattr(pusher.client, method)(f"{pusher.base}{address}", body, format="json")
    return answer.status_code, answer.json()


def test_a_view_is_saved_read_renamed_changed_and_removed(pusher: Pusher) -> None:
    made = view(pusher, where="label='cat'", splits=["test"])
    assert (made["where"], made["prefix"], made["splits"]) == ("label='cat'", "", ["test"])
    assert made["query"] == "split IN ('test') AND label = 'cat'"
    assert made["created_by"]["username"] == pusher.user.username
    view(pusher, "all-but", where="NOT label = 'cat'")
    assert [row["name"] for row in pusher.get("views/")["results"]] == ["all-but", "cats"]

    address = f"{pusher.base}views/"
    changed = pusher.client.patch(f"{address}cats/", {"name": "pets", "splits": []}).json()
    assert (changed["id"], changed["query"]) == (made["id"], "label = 'cat'")
    assert pusher.get("views/pets/") == changed
    assert refused(pusher, "get", "views/cats/")[1]["code"] == "view_not_found"

    assert pusher.client.delete(f"{address}pets/").status_code == 204
    assert refused(pusher, "delete", "views/pets/")[0] == 404
    verbs = AuditEvent.objects.filter(verb__startswith="view.").order_by("at")
    assert [(one.verb, one.data["name"]) for one in verbs] == [
        ("view.created", "cats"),
        ("view.created", "all-but"),
        ("view.changed", "pets"),
        ("view.deleted", "pets"),
    ]


def test_a_bad_view_is_refused_and_nothing_is_saved(pusher: Pusher) -> None:
    status, problem = refused(pusher, "post", "views/", {"name": "a", "where": "label = 'a' AND"})
    assert (status, problem["code"], problem["position"]) == (400, "query_invalid", 13)
    assert set(problem["errors"]) == {"where"}
    assert refused(pusher, "post", "views/", {"name": "a"})[1]["code"] == "view_empty"
    for body in (
        {"where": "size > 1"},
        {"name": "A b", "where": "size > 1"},
        {"name": "a", "where": 3, "more": 1},
        {"name": "a", "splits": "train"},
        {"name": "a", "prefix": "x" * 5000},
    ):
        assert refused(pusher, "post", "views/", body)[1]["code"] == "invalid"
    assert not SavedView.objects.exists()

    view(pusher, where="size > 1")
    view(pusher, "other", prefix="a/")
    assert refused(pusher, "post", "views/", {"name": "cats", "where": "size > 2"})[0] == 409
    for body, code in (
        ({"name": "other"}, "view_name_taken"),
        ({"where": ""}, "view_empty"),
        ({"where": "size >"}, "query_invalid"),
        ({}, "invalid"),
        ({"dataset": "x"}, "invalid"),
    ):
        assert refused(pusher, "patch", "views/cats/", body)[1]["code"] == code
    assert pusher.get("views/cats/")["query"] == "size > 1"


def test_a_viewer_reads_views_and_saves_none(pusher: Pusher) -> None:
    view(pusher, where="size > 1")
    viewer = Pusher(pusher.project, make_member(pusher.project, "viewer"))
    assert viewer.get("views/cats/")["name"] == "cats"
    for method, address in (("post", ""), ("patch", "cats/"), ("delete", "cats/")):
        assert refused(viewer, method, f"views/{address}", {"name": "mine"})[0] == 403


@pytest.fixture
def pushed(pusher: Pusher) -> Pusher:
    """Two classes of three images with a number each."""
    pack = make_pack({f"{n % 2}/{n}.png": png(n) for n in range(6)})
    pusher.upload(pack.data)
    rows = put_rows(pack)
    for row in rows:
        row["attributes"] = json.dumps({"n": int(row["path"][2])})
    pusher.commit(rows, labels_from="folder")
    return pusher


def paths(pusher: Pusher, ref: str = "main", **params: Any) -> list[str]:
    found = pusher.get(f"versions/{ref}/entries/", **params)
    assert found["total"] == len(found["results"])
    return [row["path"] for row in found["results"]]


def test_a_view_is_asked_of_the_version_that_is_looked_at(pushed: Pusher) -> None:
    view(pushed, "big", where="attributes.n > 2")
    assert paths(pushed, view="big") == ["0/4.png", "1/3.png", "1/5.png"]
    assert paths(pushed, view="big", where="label = '1'") == ["1/3.png", "1/5.png"]
    assert paths(pushed, view="big", prefix="0/") == ["0/4.png"]
    status, problem = refused(pushed, "get", "versions/main/entries/?view=none")
    assert (status, problem["code"]) == (404, "view_not_found")

    # An edit by view touches its files alone, and the next version is asked anew.
    edit = {"op": "set", "view": "big", "where": "label = '1'", "attributes": {"n": 0}}
    preview = pushed.post("edits/preview/", {"edits": [edit]})
    assert preview["changed"] == 2
    assert preview["examples"] == [
        {"path": "1/3.png", "change": "changed"},
        {"path": "1/5.png", "change": "changed"},
    ]
    asked = pushed.post("edits/", {"edits": [edit]})
    assert pushed.get(f"commits/{asked['id']}/")["state"] == "published"
    assert paths(pushed, view="big") == ["0/4.png"]
    assert paths(pushed, "v1", view="big") == ["0/4.png", "1/3.png", "1/5.png"]


def test_views_are_in_the_bucket_too(pushed: Pusher) -> None:
    view(pushed, "kept", where="size > 1", prefix="0/", splits=["val"])
    view(pushed, "gone", where="size > 1")
    pushed.client.delete(f"{pushed.base}views/gone/")
    pushed.client.patch(f"{pushed.base}views/kept/", {"name": "renamed"})
    before = pushed.get("views/")["results"]
    assert compare_catalogue(pushed.project).is_equal
    SavedView.objects.update(where="size > 2")
    assert len(compare_catalogue(pushed.project).only_in_bucket) == 1

    forget_catalogue()
    assert not Dataset.objects.exists()
    assert apply_catalogue(pushed.project).is_equal
    after = pushed.get("views/")["results"]
    assert [{**row, "updated_at": ""} for row in after] == [
        {**row, "updated_at": ""} for row in before
    ]
