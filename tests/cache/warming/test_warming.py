"""Bringing versions to a node, and taking them away."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from atom.accounts.models import Project
from atom.cache.backends.local.paths import pack_store, view_path
from atom.cache.delivery.actions.views import view_for
from atom.cache.engines.selectors import view_selector
from atom.cache.errors import SelectionEmpty, VersionPinned, ViewNotReady
from atom.cache.models import CacheRecord
from atom.cache.warming.actions import warming
from atom.cache.warming.actions.eviction import evict
from atom.cache.warming.actions.warming import LEASE, recover, request_warm, run_warm
from atom.cache.warming.actions.watermarks import make_room
from atom.clusters.models import Node
from atom.core import storage
from atom.core.errors import Invalid
from atom.datasets.catalog.actions.catalogue import pin, unpin
from atom.datasets.catalog.reads import packs_of
from atom.datasets.models import Pack, Version
from atom_sdk.readers import ViewIndex
from tests.cache.valve import Valve, valve_before_the_store
from tests.datasets.pushing import Pusher, class_files, make_pack, png


def version_of(pusher: Pusher, number: int = 1) -> Version:
    """Return a version by its number."""
    rows = Version.objects.select_related("dataset__project")
    return rows.get(dataset__project=pusher.project, number=number)


def corrupt_stored_pack(project: Project, digest: str) -> None:
    """Turn one bit of a pack in the bucket."""
    key = f"{storage.project_prefix(project)}packs/{digest}.tar"
    data = bytearray(storage.objects().get(key))
    data[len(data) // 2] ^= 1
    storage.objects().put(key, bytes(data))


def test_warming_brings_verified_packs_and_the_view(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)

    record = request_warm(version, node)

    record.refresh_from_db()
    assert (record.state, record.error) == ("warm", "")
    assert record.packs_present == record.packs_total == 1
    assert record.bytes_present == record.bytes_total == Pack.objects.get().size_bytes
    view = view_for(version, node)
    assert len(ViewIndex(view.index_path)) == version.file_count
    assert (view.pack_dir / f"{packs_of(version)[0]}.tar").is_file()


def test_a_selector_gives_a_view_without_the_other_splits(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    request_warm(version, node, {"split": "train"})

    view = view_for(version, node, {"split": "train"})

    index = ViewIndex(view.index_path)
    assert {index.split_of(row) for row in range(len(index))} == {"train"}
    assert len(index) == 9


def test_an_unknown_selector_is_refused_at_once(pusher: Pusher, node: Node) -> None:
    with pytest.raises(Invalid):
        request_warm(version_of(pusher), node, {"colour": "red"})


def test_a_selector_that_leaves_nothing_says_so_and_leaves_the_bytes_warm(
    pusher: Pusher, node: Node
) -> None:
    version = version_of(pusher)
    record = request_warm(version, node, {"split": "none such"})

    record.refresh_from_db()
    said = "There is no sample in the split none such of digits@v1."
    assert (record.state, record.error) == ("warm", said)
    with pytest.raises(SelectionEmpty, match=said):
        view_for(version, node, {"split": "none such"})
    assert view_for(version, node).index_path.exists()


def test_the_next_version_costs_only_its_difference(
    pusher: Pusher, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_warm(version_of(pusher), node)
    pusher.push({"new.png": png(500)})
    second = version_of(pusher, 2)
    lines = pusher.client.get(f"{pusher.base}versions/v2/cache/").json()
    assert (lines[0]["packs_present"], lines[0]["packs_total"]) == (1, 2)
    assert 0 < lines[0]["coverage"] < 1
    with valve_before_the_store(monkeypatch) as valve:
        request_warm(second, node)

    new_pack = make_pack({"new.png": png(500)}).digest
    [fetched] = packs_asked_for(valve)
    assert fetched.endswith(f"packs/{new_pack}.tar")


def test_warming_twice_fetches_nothing(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    request_warm(version, node)
    corrupt_stored_pack(pusher.project, packs_of(version)[0])

    record = request_warm(version, node)

    assert record.state == "warm"


def test_a_corrupted_pack_is_found_named_and_never_served(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    digest = packs_of(version)[0]
    corrupt_stored_pack(pusher.project, digest)

    record = request_warm(version, node)

    record.refresh_from_db()
    assert record.state == "failed"
    assert digest in record.error
    pack = Pack.objects.get(digest=digest)
    assert pack.state == "quarantined"
    assert digest in pack.reason
    assert not pack_store(pusher.project).has(bytes.fromhex(digest))
    with pytest.raises(ViewNotReady):
        view_for(version, node)
    manifest = pusher.client.get(f"{pusher.base}versions/v1/manifest/")
    assert manifest.json()["code"] == "pack_quarantined"
    key = f"{storage.project_prefix(pusher.project)}packs/{digest}.tar"
    assert not storage.objects().exists(key)


def test_after_a_repair_the_version_can_be_warmed(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    corrupt_stored_pack(pusher.project, packs_of(version)[0])
    request_warm(version, node)
    pusher.upload(make_pack(class_files()).data)

    record = request_warm(version, node)

    record.refresh_from_db()
    assert record.state == "warm"


def test_a_pack_that_is_missing_in_the_bucket_fails_in_words(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    prefix = storage.project_prefix(pusher.project)
    storage.objects().delete(f"{prefix}packs/{packs_of(version)[0]}.tar")

    record = request_warm(version, node)

    record.refresh_from_db()
    assert record.state == "failed"
    assert packs_of(version)[0] in record.error


def test_a_pack_that_the_store_cannot_read_is_named_and_quarantined(
    pusher: Pusher, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = version_of(pusher)
    digest = packs_of(version)[0]

    with valve_before_the_store(monkeypatch) as valve:
        valve.lost = digest.encode()
        record = request_warm(version, node)

    record.refresh_from_db()
    assert record.state == "failed"
    assert digest in record.error
    assert "cannot read it" in record.error
    [listed] = pusher.get("quarantined-packs/")["results"]
    assert (listed["digest"], listed["found_in"]) == (digest, "store")
    assert "cannot read it" in listed["reason"]
    pusher.upload(make_pack(class_files()).data)
    assert request_warm(version, node).state == "warming"
    record.refresh_from_db()
    assert (record.state, record.error) == ("warm", "")


def test_a_store_that_is_away_is_waited_for_and_no_pack_is_blamed(
    pusher: Pusher, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = version_of(pusher)

    with valve_before_the_store(monkeypatch) as valve:
        valve.fails = True
        record = request_warm(version, node)
        record.refresh_from_db()
        assert record.state == "warming"
        line = pusher.client.get(f"{pusher.base}versions/v1/cache/").json()[0]
        assert "500" in line["error"]
        valve.fails = False
        assert recover() == 1

    record.refresh_from_db()
    assert (record.state, record.error) == ("warm", "")
    assert Pack.objects.get().state == "verified"


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_one_record_end_warm(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    record = CacheRecord.objects.create(node=node, version=version, state="warming")

    def work() -> None:
        try:
            run_warm(record.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    record.refresh_from_db()
    assert (record.state, record.packs_present) == ("warm", 1)


def let_time_pass(record: CacheRecord, *, claimed: bool) -> None:
    """Let the record look as if nobody had touched it for longer than a lease lasts."""
    long_ago = timezone.now() - LEASE - timedelta(seconds=1)
    rows = CacheRecord.objects.filter(pk=record.pk)
    rows.update(updated_at=long_ago, claimed_until=long_ago if claimed else None)


@pytest.mark.parametrize("claimed", [True, False], ids=["worker died", "task was lost"])
def test_a_warm_up_that_nobody_is_at_goes_on_as_it_was_asked(
    pusher: Pusher, node: Node, claimed: bool
) -> None:
    version = version_of(pusher)
    record = CacheRecord.objects.create(
        node=node, version=version, state="warming", selector={"split": ["test"]}
    )
    assert recover() == 0
    let_time_pass(record, claimed=claimed)

    assert recover() == 1

    record.refresh_from_db()
    assert (record.state, record.claimed_until) == ("warm", None)
    assert view_path(version, view_selector({"split": "test"})).index_path.exists()


@pytest.mark.django_db(transaction=True)
def test_a_warm_up_that_is_slow_but_alive_is_left_alone(
    pusher: Pusher, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "_RENEW_EVERY_S", 0.05)
    version = version_of(pusher)
    record = CacheRecord.objects.create(node=node, version=version, state="warming")

    def work() -> None:
        try:
            run_warm(record.pk)
        finally:
            connection.close()

    with valve_before_the_store(monkeypatch) as valve:
        valve.open.clear()
        worker = threading.Thread(target=work)
        worker.start()
        try:
            assert valve.asked.wait(30)
            let_time_pass(record, claimed=True)
            time.sleep(0.5)
            assert recover() == 0
        finally:
            valve.open.set()
            worker.join()

    record.refresh_from_db()
    assert record.state == "warm"
    assert len(packs_asked_for(valve)) == 1


def packs_asked_for(valve: Valve) -> list[str]:
    """Return the addresses of the packs that were asked for."""
    return [path for path in valve.requests if "/packs/" in path]


def test_the_api_warms_shows_and_evicts(pusher: Pusher) -> None:
    base = f"{pusher.base}versions/v1/"
    before = pusher.client.get(f"{base}cache/").json()[0]
    assert (before["state"], before["coverage"], before["packs_total"]) == ("cold", 0.0, 1)

    answer = pusher.client.post(f"{base}warm/", {})
    after = pusher.client.get(f"{base}cache/").json()[0]
    evicted = pusher.client.post(f"{base}evict/", {})

    assert answer.status_code == evicted.status_code == 202
    assert (after["state"], after["coverage"], after["error"]) == ("warm", 1.0, None)
    assert (evicted.json()[0]["state"], evicted.json()[0]["coverage"]) == ("cold", 0.0)


def test_an_unknown_node_is_a_clear_404(pusher: Pusher) -> None:
    answer = pusher.client.post(f"{pusher.base}versions/v1/warm/", {"node": "mars"})

    assert (answer.status_code, answer.json()["code"]) == (404, "node_unknown")


def test_a_node_out_of_reach_is_refused_and_keeps_its_last_report(
    pusher: Pusher, node: Node
) -> None:
    version = version_of(pusher)
    far = Node.objects.create(cluster=node.cluster, name="far", cpu_count=1, memory_bytes=1 << 30)
    at = f"{pusher.base}versions/v1/"

    for action in ("warm", "evict"):
        refused = pusher.client.post(f"{at}{action}/", {"node": "far"}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (409, "node_out_of_reach")
    assert not far.cache_records.exists()

    reported = CacheRecord.objects.create(
        node=far, version=version, state="warming", packs_total=2, packs_present=1
    )
    run_warm(reported.pk)

    [_, line] = pusher.client.get(f"{at}cache/").json()
    assert (line["node"], line["state"], line["packs_present"]) == ("far", "failed", 1)


def test_a_pinned_version_is_not_evicted(pusher: Pusher, node: Node) -> None:
    version = version_of(pusher)
    request_warm(version, node)
    pin(version, "run", "1")

    with pytest.raises(VersionPinned):
        evict(version, node)

    unpin("run", "1")
    record = evict(version, node)
    assert record is not None
    assert record.state == "cold"


def test_eviction_keeps_packs_that_another_warm_version_shares(pusher: Pusher, node: Node) -> None:
    pusher.push({"new.png": png(500)})
    first, second = version_of(pusher, 1), version_of(pusher, 2)
    request_warm(first, node)
    request_warm(second, node)

    evict(second, node)

    present = pack_store(pusher.project).present()
    assert present == set(packs_of(first))
    assert view_for(first, node).index_path.exists()


def test_above_the_high_watermark_the_least_recently_used_goes(
    pusher: Pusher, node: Node, settings: Any
) -> None:
    other = Pusher(pusher.project, pusher.user, "other").create()
    other.push({f"{n}.png": png(n, 32) for n in range(20)})
    versions = Version.objects.select_related("dataset__project")
    old, new = versions.get(dataset__name="digits"), versions.get(dataset__name="other")
    request_warm(old, node)
    request_warm(new, node)
    CacheRecord.objects.filter(version=old).update(used_at="2024-01-01T00:00:00Z")
    used = sum(Pack.objects.values_list("size_bytes", flat=True))
    settings.ATOM_CACHE_LIMIT_BYTES = used + 1

    assert make_room() == 1

    states = dict(CacheRecord.objects.values_list("version__dataset__name", "state"))
    assert states == {"digits": "cold", "other": "warm"}
    settings.ATOM_CACHE_LIMIT_BYTES = used * 10
    assert make_room() == 0


def test_warm_packs_are_readable_by_jobs_and_writable_by_nobody(pusher: Pusher, node: Node) -> None:
    request_warm(version_of(pusher), node)

    path = Path(settings.ATOM_HOME) / "cache" / str(pusher.project.pk) / "packs"

    assert [file.stat().st_mode & 0o777 for file in path.iterdir()] == [0o444]
