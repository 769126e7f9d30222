"""Operators look at tables under `/admin/`, through the portal's door; they change none."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client

from atom.accounts.actions import create_s3_key_pair, create_token
from atom.accounts.actions.invitations import invite
from atom.accounts.models import Invitation, RoleBinding, S3KeyPair, SecondFactor, Session, User
from atom.core.admin import ReadOnlyAdmin
from atom.core.admin_words import chinese
from tests.accounts.test_second_factor import log_in, set_up
from tests.factories.accounts import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
PEOPLE = "/admin/accounts/user/"


def operator(**fields: Any) -> tuple[User, Client]:
    user = User.objects.create_superuser("root", password=PASSWORD, **fields)
    return user, log_in(user)[0]


def test_one_signs_in_at_the_portals_door() -> None:
    stranger = Client()
    for path in ("/admin/", PEOPLE, "/admin/jsi18n/"):
        first = stranger.get(path)
        assert (first.status_code, first["Location"].partition("?")[0]) == (302, "/admin/login/")
        second = stranger.get(first["Location"])
        assert second["Location"].startswith("/login?next=%2Fadmin%2F")
    # No form that takes a password goes around the limits.
    posted = stranger.post("/admin/login/", {"username": "root", "password": PASSWORD})
    assert (posted.status_code, posted["Location"]) == (302, "/login?next=%2Fadmin%2F")


def test_nobody_but_administrators_of_the_installation_learns_of_it() -> None:
    member = make_member(make_project(), "admin")
    member.is_staff = True
    member.save()
    client, _ = log_in(member)
    assert client.get(PEOPLE, follow=True).status_code == 404
    assert client.get("/admin/login/").status_code == 404


def test_a_second_factor_that_is_demanded_counts_here_too(settings: Any) -> None:
    settings.ATOM_SECOND_FACTOR = "administrators"
    _, client = operator()
    answer = client.get(PEOPLE, follow=False)
    assert client.get(answer["Location"])["Location"].startswith("/second-factor?next=%2Fadmin%2F")
    set_up(client)
    assert client.get(PEOPLE).status_code == 200
    assert client.post("/admin/logout/")["Location"] == "/login"
    assert client.get(PEOPLE).status_code == 302


def test_every_table_is_listed_and_searched_and_nothing_can_be_changed() -> None:
    user, client = operator()
    make_member(make_project("vision"))
    front = client.get("/admin/").content.decode()
    assert "None None" not in front
    for plural in ("Branches", "Deliveries", "Aliases", "Metric series", "Code changes", "Runs"):
        assert f">{plural}<" in re.sub(r"\s*([<>])\s*", r"\1", front), plural
    for model, options in admin.site._registry.items():
        assert isinstance(options, ReadOnlyAdmin), model
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        found = client.get(path, {"q": "vision"})
        assert found.status_code == 200, path
        assert client.get(f"{path}add/").status_code == 403, path
        row = model._default_manager.first()
        if row is not None:
            one = f"{path}{row.pk}/change/"
            assert client.get(one).status_code == 200, one
            assert client.post(one, {"_save": "1"}).status_code == 403, one
            assert client.post(f"{path}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    everybody = {
        "action": "delete_selected",
        "select_across": "1",
        "_selected_action": str(user.pk),
    }
    client.post(PEOPLE, everybody)
    assert User.objects.count() == 2
    registered = {model for model in admin.site._registry if model.__module__.startswith("atom.")}
    ours = {model for model in apps.get_models() if model.__module__.startswith("atom.")}
    left_out = {model.__name__ for model in ours - registered}
    assert left_out == {"IdempotencyRecord", "RecoveryCode", "SecondFactor", "Session"}


def test_no_secret_is_shown() -> None:
    user, client = operator()
    project = make_project("vision")
    set_up(client)
    token = create_token(user, "ci", ["read"])
    pair = create_s3_key_pair(user, "s3", project, None)
    invite(project, user, "viewer", "mia@example.org", 7)
    user.refresh_from_db()
    secrets = [
        token.secret,
        token.token.secret_hash,
        pair.secret,
        S3KeyPair.objects.get().encrypted_secret,
        Invitation.objects.get().token_hash,
        SecondFactor.objects.get().encrypted_secret,
        user.password,
        *Session.objects.values_list("session_key", flat=True),
    ]
    for model in apps.get_app_config("accounts").get_models():
        if not admin.site.is_registered(model):
            continue
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        pages = [client.get(path)]
        if row := model._default_manager.first():
            pages.append(client.get(f"{path}{row.pk}/change/"))
        for page in pages:
            text = page.content.decode()
            assert not any(secret in text for secret in secrets), path


def test_a_row_leads_to_what_it_belongs_to() -> None:
    _, client = operator()
    member = make_member(make_project("vision"), "labeler", "mia")
    page = client.get("/admin/accounts/rolebinding/", {"role": "labeler"}).content.decode()
    binding = RoleBinding.objects.get(user=member)
    assert f'href="{PEOPLE}{member.pk}/change/"' in page
    assert f"/admin/accounts/project/{binding.project_id}/change/" in page


def test_it_speaks_the_language_of_its_reader() -> None:
    _, client = operator(language="zh")
    page = client.get("/admin/").content.decode()
    assert "站点管理" in page
    other = make_user(is_superuser=True)
    english = log_in(other)[0].get("/admin/").content.decode()
    assert "站点管理" not in english


def test_tables_and_columns_have_names_in_chinese() -> None:
    user, client = operator(language="zh")
    listed = client.get("/admin/accounts/rolebinding/").content.decode()
    assert all(word in listed for word in ("角色授予", "账户", "单位", "创建时间"))
    one = client.get(f"{PEOPLE}{user.pk}/change/").content.decode()
    assert "姓名" in one
    assert "full name" not in one.lower()
    english = log_in(make_user(is_superuser=True))[0].get("/admin/accounts/rolebinding/")
    assert "角色授予" not in english.content.decode()


def test_the_chinese_names_are_those_of_the_tables_and_no_others() -> None:
    wanted: dict[str, set[str]] = {"apps": set(), "tables": set(), "columns": set()}
    for model, shown in admin.site._registry.items():
        wanted["apps"].add(str(apps.get_app_config(model._meta.app_label).verbose_name))
        wanted["tables"].add(str(model._meta.verbose_name_plural))
        fields = (one for one in model._meta.fields if one.name in (shown.fields or ()))
        wanted["columns"] |= {str(one.verbose_name) for one in fields}
    # Django translates the names of its own columns.
    of_django = {"active", "date joined", "email address", "last login", "username"}
    wanted["columns"] -= of_django | {"staff status", "superuser status"}
    kept = {kind: set(words) for kind, words in chinese().items()}
    assert kept == wanted


def test_its_pages_ask_no_other_site() -> None:
    _, client = operator()
    page = client.get(PEOPLE).content.decode()
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page
    assert "/static/unfold/" in page
