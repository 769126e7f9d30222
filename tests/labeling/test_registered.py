"""Images that stay at a bucket can be labelled: their pictures come from there."""

from __future__ import annotations

from typing import Any

import pytest

from atom.datasets.models import Source, Version
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import media_server
from atom.labeling.actions.items import _item
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.api.media import item_urls
from atom.labeling.models import LabelTask
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member, make_project
from tests.gateway.test_registered import get


@pytest.mark.django_db(transaction=True)
def test_an_item_shows_the_object_at_its_source(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    media_server.cache_clear()
    project = make_project()
    pusher = Pusher(project, make_member(project, "researcher")).create()
    bucket = Bucket()
    bucket.put({"a.png": png(1)})
    pusher.post(f"/api/v1/projects/{project.slug}/sources/", bucket.body())
    scans.request_scan(Source.objects.get(), pusher.user)
    version = Version.objects.select_related("dataset__project").get()
    (sample,) = ImageSelection(version, labelled=None).samples()
    item = _item(LabelTask(), sample, 0)
    assert get(item_urls(project.pk, item)["media_url"]).content == png(1)
