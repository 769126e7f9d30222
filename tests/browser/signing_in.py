"""Signs a page in through the API, as the sign-in page does."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.people import Person
from tests.stack import Stack


def sign_in(page: Page, stack: Stack, person: Person) -> None:
    """Give the page's context a session of the person."""
    page.request.get("/api/v1/auth/session/")
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    answer = page.request.post(
        "/api/v1/auth/login/",
        data={"username": person.username, "password": person.password},
        headers={"X-CSRFToken": cookies["csrftoken"], "Referer": stack.base_url},
    )
    assert answer.ok, answer.text()
