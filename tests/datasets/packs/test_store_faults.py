"""A bucket that throttles, fails, refuses or loses objects: ours and a source's, however used.

Throttled or failing for a moment, everything backs off and succeeds. Refused or lost, it fails with
the name of the object, and loses nothing: after that the same works again.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from botocore.exceptions import ClientError
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_s3_key_pair, create_token
from atom.cache.backends.local.paths import pack_store
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.warming import recover, request_warm
from atom.clusters.actions import ensure_local_node
from atom.core import storage
from atom.core.storage import StoreError
from atom.datasets.models import GarbageRun, Source, Version
from atom.datasets.retention.actions.garbage import add_garbage_run, collect_garbage
from atom.datasets.retention.garbage_roots import GarbageRules
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import media_server
from atom.gateway.s3.application import application as s3_application
from atom.gateway.s3.application import s3_server
from atom.jobs import states
from atom.jobs.artifacts.actions import outputs
from atom.jobs.artifacts.actions.outputs import OutputFile
from atom.jobs.models import Artifact
from atom_sdk.client import Client
from atom_sdk.client.archives.save import SaveOptions
from atom_sdk.errors import AtomError
from atom_sdk.fs import AtomFileSystem
from atom_sdk.mount import MountOptions
from tests.datasets.buckets import Answer, Bucket, Moody, refusal
from tests.datasets.gateways import Gateway, served
from tests.datasets.pushing import Pusher, make_pack, png
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt
from tests.gateway.s3.conftest import S3Address

PUSHED = {"mine/a.png": png(1), "mine/b.txt": b"bb"}
STAYS = {"far/c.txt": b"ccc"}
Work = Callable[[], object]


@pytest.fixture
def front(settings: Any, transactional_db: None) -> Iterator[Moody]:
    """A server in front of all buckets."""
    found = Moody(settings.S3_ENDPOINT_URL)
    settings.S3_ENDPOINT_URL = settings.S3_PUBLIC_ENDPOINT_URL = found.url
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    caches = (storage.objects, media_server, s3_server)
    for cache in caches:
        cache.cache_clear()
    yield found
    for cache in caches:
        cache.cache_clear()
    found.close()


@dataclass
class Place:
    """A project with files in Atom and at a source, and a client with a cache of its own."""

    pusher: Pusher
    client: Client
    # Into another project.
    other: Client
    through_s3: Any
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    number: int = 0

    def ways(self) -> dict[str, Work]:
        """Everything that reads or writes a bucket."""
        return {
            "pull": lambda: self.data.pull("digits@v1", self.folder / f"copy{self.number}"),
            "open": lambda: [one.data for one in self.data.open("digits@v1")],
            "stream": lambda: [one.data for one in self.data.open("digits@v1", stream=True)],
            "at a source": lambda: [one.data for one in self.data.open("digits", prefix="far/")],
            "atom://": self.file_system,
            "mount": self.mount,
            "S3": self.s3,
            "save": self.save,
            "load": self.load,
            "copy-to": self.copy_to,
            "push": self.push,
            "warm": self.warm,
            "list": self.scan,
            "collect": self.collect,
        }

    @property
    def data(self) -> Any:
        return self.client.datasets

    def fresh(self) -> None:
        """Have nothing of earlier tries on this machine."""
        self.number += 1
        self.monkeypatch.setenv("ATOM_CACHE", str(self.folder / f"cache{self.number}"))

    def file_system(self) -> None:
        config = self.client.config
        fs = AtomFileSystem(config.url, config.token, config.project, skip_instance_cache=True)
        root = f"{config.project}/digits"
        found = [fs.cat_file(f"{root}@{path}") for path in ("v1/mine/b.txt", "main/far/c.txt")]
        fs.close()
        assert found == [PUSHED["mine/b.txt"], STAYS["far/c.txt"]]

    def save(self) -> None:
        target = self.folder / f"archive{self.number}"
        self.client.archives.save("digits", target, SaveOptions(refs=("v1",)))

    @staticmethod
    def read(client: Client, name: str) -> dict[str, bytes]:
        """Return the files of a dataset."""
        dataset = client.datasets.open(f"{name}@v1", stream=True)
        return {one.path: bytes(one.data) for one in dataset}

    def load(self) -> None:
        """Load what was saved while all was well."""
        name = f"loaded{self.number}"
        self.other.archives.load(self.folder / "archive", "digits", name)
        assert self.read(self.other, name) == PUSHED

    def copy_to(self) -> None:
        name = f"copied{self.number}"
        self.client.archives.copy_to(self.other, "digits", name, refs=("v1",))
        assert self.read(self.other, name) == PUSHED

    def mount(self) -> None:
        target = self.folder / f"mounted{self.number}"
        self.data.mount("digits@v1", target, MountOptions(how="hardlinks"))
        for path, data in PUSHED.items():
            assert (target / path).read_bytes() == data

    def s3(self) -> None:
        for path, data in PUSHED.items():
            got = self.through_s3.get_object(Bucket="digits", Key=f"v1/{path}")
            assert got["Body"].read() == data

    def push(self) -> None:
        folder = self.folder / f"push{self.number}"
        folder.mkdir(exist_ok=True)
        (folder / "new.png").write_bytes(png(100 + self.number))
        self.data.push(folder, "other")

    def warm(self) -> None:
        version = Version.objects.select_related("dataset__project").get(
            dataset__name="digits", number=1
        )
        store = pack_store(version.dataset.project)
        for pack in store.present():
            store.remove(bytes.fromhex(pack))
        CacheRecord.objects.all().delete()
        record = request_warm(version, ensure_local_node())
        # As beat does, for a store that was away for a moment.
        recover()
        record.refresh_from_db()
        if record.state != "warm":
            raise AtomError(record.error)

    def scan(self) -> None:
        source = Source.objects.get()
        scan = scans.request_scan(source, source.created_by)
        scan.refresh_from_db()
        if scan.state != "done":
            raise AtomError(scan.error_detail)

    def collect(self) -> None:
        # One whose worker died is taken up again.
        run = GarbageRun.objects.filter(state="running").first() or add_garbage_run(
            self.pusher.project, None, is_dry_run=False
        )
        run = collect_garbage(run.pk, GarbageRules())
        if run.state != "done":
            raise AtomError(run.error_detail)


@pytest.fixture
def place(
    front: Moody,
    live_server: LiveServer,
    pusher: Pusher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Place]:
    pusher.push(PUSHED)
    bucket = Bucket()
    bucket.put(STAYS)
    pusher.post(f"/api/v1/projects/{pusher.project.slug}/sources/", bucket.body())
    secret = create_token(pusher.user, "tests", ["write"]).secret
    project = make_project()
    theirs = create_token(make_member(project, "researcher"), "tests", ["write"]).secret
    gateway = Gateway(live_server.url)
    with (
        gateway.served() as url,
        Client(url, secret, pusher.project.slug) as client,
        Client(url, theirs, project.slug) as other,
        served(s3_application) as s3_url,
    ):
        through_s3 = S3Address(s3_url).client(create_s3_key_pair(pusher.user, "s3", pusher.project))
        found = Place(pusher, client, other, through_s3, tmp_path, monkeypatch)
        client.archives.save("digits", tmp_path / "archive")
        found.scan()
        yield found


READS = ("pull", "open", "stream", "at a source", "atom://", "mount", "S3", "copy-to", "warm")


def once_each(front: Moody) -> Callable[[str], Answer]:
    """Throttle or fail at the first request of each object, now in one way and now in another."""
    answers = itertools.cycle(
        [
            *(refusal(503, "SlowDown"), refusal(429, "TooManyRequests")),
            *(refusal(500, "InternalError"), refusal(502, "BadGateway"), refusal(504, "Timeout")),
        ]
    )
    known: set[str] = set()

    def mood(path: str) -> Answer:
        key = path.partition("?")[0]
        if key in known:
            return None
        known.add(key)
        return next(answers)

    return mood


# In the fast tier: `test_what_cannot_be_had_is_named_and_nothing_is_lost`, of one kind.
@pytest.mark.deep
def test_everything_backs_off_from_a_bucket_that_throttles_or_fails(
    front: Moody, place: Place
) -> None:
    for name, work in place.ways().items():
        place.fresh()
        front.mood = once_each(front)
        front.seen.clear()
        work()
        keys = [path.partition("?")[0] for path in front.seen]
        assert len(keys) > len(set(keys)), f"{name} was throttled"


def test_what_is_cut_off_while_it_is_read_is_read_again(front: Moody, place: Place) -> None:
    # Not what the other project's worker reads to verify it: `recover` takes that up, as after a
    # worker's end.
    read = re.compile(f"/{place.pusher.project.pk}/packs/|/far/")
    for name in READS:
        place.fresh()
        cut: set[str] = set()

        def is_first(path: str, cut: set[str] = cut) -> bool:
            key = path.partition("?")[0]
            first = bool(read.search(path)) and key not in cut
            cut.update([key] if first else [])
            return first

        front.cuts = is_first
        place.ways()[name]()
        front.cuts = lambda path: False
        assert cut, name


def first_of(pattern: str) -> Callable[[str], bool]:
    """Return what is true of the first request to each object that the pattern finds."""
    known: set[str] = set()

    def is_first(path: str) -> bool:
        key = path.partition("&")[0]
        found = re.search(pattern, path) is not None and key not in known
        known.update([key] if found else [])
        return found

    return is_first


WRITES = ("push", "load", "collect")


def test_what_was_written_though_no_answer_came_is_there_once(front: Moody, place: Place) -> None:
    for name in WRITES:
        place.fresh()
        front.loses = first_of("^(POST|PUT|DELETE) ")
        # Each compares what is there afterwards with what was sent.
        place.ways()[name]()
    assert [*Version.objects.filter(dataset__name="other").values_list("number")] == [(1,)]


# In the fast tier: `test_what_is_cut_off_while_it_is_read_is_read_again`.
@pytest.mark.deep
def test_a_store_that_is_silent_is_left_soon_and_asked_again(
    front: Moody, place: Place, settings: Any
) -> None:
    settings.ATOM_STORE_PATIENCE_S = 0.4
    storage.objects.cache_clear()
    silent = first_of(r"/(staging|packs)/[^?]+\?uploads|/staging/[^?]+\?uploadId|/packs/")

    def mood(path: str) -> Answer:
        if silent(path):
            time.sleep(1)
        return None

    front.mood = mood
    place.push()


def test_an_output_becomes_durable_in_spite_of_its_store(front: Moody) -> None:
    data = os.urandom(3 << 20)
    attempt = make_attempt()
    file = OutputFile("model.bin", len(data), hashlib.sha256(data).hexdigest(), "output")
    [upload] = outputs.announce(attempt, [file])
    for fault in ("mood", "cuts", "loses"):
        storage.objects().put(outputs.staging_key(upload.artifact), data)
        setattr(front, fault, once_each(front) if fault == "mood" else first_of("/outputs/"))
        with suppress(StoreError):
            outputs.complete(attempt, [upload.artifact.pk])
        # As the next tick does, which finds what a worker failed at.
        with suppress(StoreError):
            outputs.verify(upload.artifact.pk)
        outputs.verify(upload.artifact.pk)
        setattr(front, fault, lambda path: None)
        upload.artifact.refresh_from_db()
        assert upload.artifact.state == states.PERSISTED, fault
        assert storage.objects().get(upload.artifact.key) == data
        Artifact.objects.filter(pk=upload.artifact.pk).update(state=states.LOCAL, key="")


DENIED, GONE = refusal(403, "AccessDenied"), refusal(404, "NoSuchKey")
ANYTHING = re.compile("/(packs|staging|far)/|list-type|prefix=")
OBJECTS = re.compile(r"^[^?]*/(packs|staging|far)/")


@pytest.mark.parametrize(
    ("answer", "of"),
    [
        pytest.param(DENIED, ANYTHING, id="denied", marks=pytest.mark.deep),
        pytest.param(GONE, OBJECTS, id="gone"),
    ],
)
def test_what_cannot_be_had_is_named_and_nothing_is_lost(
    front: Moody, place: Place, answer: Answer, of: re.Pattern[str]
) -> None:
    pack = make_pack(PUSHED).digest
    named = {
        "at a source": "far/c.txt",
        **dict.fromkeys(("push", "load", "copy-to"), "CreateMultipartUpload"),
        # A bucket that gives no list; one that only lost objects gives it.
        **(
            {"save": "refs/", "copy-to": "refs/", "list": "foreign-", "collect": "packs/"}
            if of is ANYTHING
            else {}
        ),
    }
    whole = {name for name in place.ways() if of is OBJECTS and name in {"list", "collect"}}
    for name, work in place.ways().items():
        place.fresh()
        front.mood = lambda path: answer if of.search(path) else None
        if name in whole:
            work()
        else:
            with pytest.raises((AtomError, StoreError, ClientError)) as failed:
                work()
            assert named.get(name, pack) in unquote(str(failed.value)), name
        front.mood = lambda path: None
        place.fresh()
        work()
