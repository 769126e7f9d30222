"""The built portal is served by the stack."""

from playwright.sync_api import Page, expect

from tests.stack import Stack


def test_the_portal_opens_at_any_page(page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    response = page.goto("/")
    assert response is not None
    assert response.headers["cache-control"] == "no-cache"
    expect(page.locator("#root")).not_to_be_empty()
    page.goto("/runs")
    expect(page.locator("#root")).not_to_be_empty()
    assert errors == []


def test_the_session_is_asked_for_once_before_the_scripts_ran(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/", wait_until="networkidle")
    session = [place for place, url in enumerate(asked) if url.endswith("/auth/session/")]
    later = [place for place, url in enumerate(asked) if "/assets/auth-" in url]
    assert len(session) == 1
    # A page's own script is asked for by the first ones.
    assert session[0] < min(later)


def test_who_was_given_a_link_is_not_asked_who_they_are(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/shared-run", wait_until="networkidle")
    assert asked
    assert not [url for url in asked if url.endswith("/auth/session/")]


def test_assets_are_immutable_and_compressed(page: Page, stack: Stack) -> None:
    seen: dict[str, dict[str, str]] = {}
    page.on("response", lambda answer: seen.__setitem__(answer.url, answer.all_headers()))
    page.goto("/", wait_until="networkidle")
    scripts = {url: headers for url, headers in seen.items() if url.endswith(".js")}
    assert scripts
    for headers in scripts.values():
        assert "immutable" in headers["cache-control"]
    assert any("content-encoding" in headers for headers in scripts.values())
