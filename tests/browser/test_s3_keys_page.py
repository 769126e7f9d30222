"""S3 keys: made in the portal, used by an S3 client, revoked."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.page_checks import COLORS_STAND, THEMES
from tests.browser.visiting import await_true
from tests.stack import Stack


def client_of(stack: Stack, key_id: str, secret: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=stack.s3_url,
        region_name="us-east-1",
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=Config(s3={"addressing_style": "path"}),
    )


def test_a_key_is_shown_once_reads_and_disappears_when_revoked(
    signed_in_page: Page, stack: Stack
) -> None:
    page = signed_in_page
    page.goto("/settings/s3-keys")
    page.get_by_role("button", name="New S3 key").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("rclone")
    dialog.get_by_role("button", name="Create key").click()
    key_id = dialog.get_by_role("region", name="Access key id").inner_text()
    secret = dialog.get_by_role("region", name="Secret access key").inner_text()
    key_id, secret = (text.strip().splitlines()[-1] for text in (key_id, secret))
    dialog.get_by_role("tab", name="s5cmd").click()
    expect(dialog.get_by_role("tabpanel")).to_contain_text(f"S3_ENDPOINT_URL={stack.s3_url}")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        await_true(page, COLORS_STAND)
        assert violations(page) == []
    dialog.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_text(secret)).to_have_count(0)

    client_of(stack, key_id, secret).list_buckets()

    page.get_by_role("button", name="Revoke rclone").click()
    expect(page.get_by_role("cell", name="rclone")).to_have_count(0)
