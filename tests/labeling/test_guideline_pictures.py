"""Pictures of guidelines: sent, made harmless, shown to the project's people, deleted."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zlib
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from PIL import ExifTags, Image

from atom.accounts.models import Project, User
from atom.core import storage
from atom.labeling.actions.guideline_pictures import MAX_PICTURES, delete_orphans
from atom.labeling.actions.ontologies import OntologyContent, create_ontology
from atom.labeling.models import GuidelinePicture
from tests.factories.accounts import make_member, make_project
from tests.labeling.asking import V1, Api, new_task

pytestmark = pytest.mark.usefixtures("committing_db")


def picture(form: str = "PNG", size: tuple[int, int] = (40, 20), **options: Any) -> bytes:
    """Return a picture whose left half is red and whose right half is blue."""
    image = Image.new(options.pop("mode", "RGB"), size, options.pop("left", "red"))
    image.paste("blue", (size[0] // 2, 0, *size))
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def exif(orientation: int = 1) -> Image.Exif:
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = orientation
    tags[ExifTags.Base.Make] = "zirconium phone"
    tags.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (52.0, 31.0, 12.0)
    return tags


def address(project: Project, rest: str = "") -> str:
    return f"{V1}/projects/{project.slug}/labelx/guideline-pictures/{rest}"


def send(user: User, project: Project, data: bytes, media_type: str = "image/png") -> Any:
    client = Client()
    client.force_login(user)
    return client.generic("POST", address(project), data, media_type)


def stored(user: User, project: Project, answer: Any) -> Image.Image:
    client = Client()
    client.force_login(user)
    shown = client.get(address(project, f"{answer.json()['id']}/bytes/"))
    assert shown.status_code == 200
    assert shown["Content-Type"] == answer.json()["media_type"]
    return Image.open(io.BytesIO(shown.content))


@pytest.fixture
def manager(project: Project) -> User:
    return make_member(project, "researcher")


@pytest.mark.parametrize(
    ("form", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/png")],
)
def test_pictures_of_each_kind_are_stored_and_shown(
    project: Project, manager: User, form: str, media_type: str
) -> None:
    answer = send(manager, project, picture(form))
    assert answer.status_code == 201
    body = answer.json()
    assert (body["media_type"], body["width"], body["height"]) == (media_type, 40, 20)
    assert (body["uses"], body["created_by"]) == (0, manager.username)
    shown = stored(manager, project, answer).convert("RGB")
    red, green, blue = shown.getpixel((5, 10))  # type: ignore[misc]  # of three bands
    assert red > 200
    assert green < 60
    assert blue < 60


@pytest.mark.parametrize(
    ("mode", "form"),
    [("P", "PNG"), ("L", "JPEG"), ("CMYK", "JPEG"), ("RGBA", "PNG"), ("I;16", "PNG"), ("1", "PNG")],
)
def test_pictures_of_other_modes_are_taken(
    project: Project, manager: User, mode: str, form: str
) -> None:
    out = io.BytesIO()
    Image.new(mode, (9, 9)).save(out, form)
    answer = send(manager, project, out.getvalue())
    assert answer.status_code == 201
    assert stored(manager, project, answer).size == (9, 9)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_exif_and_gps_are_dropped_and_the_picture_is_turned(
    project: Project, manager: User, form: str
) -> None:
    # 6: the camera was turned, and the picture must be turned clockwise.
    data = picture(form, exif=exif(6))
    assert b"zirconium" in data
    answer = send(manager, project, data)
    assert (answer.json()["width"], answer.json()["height"]) == (20, 40)
    shown = stored(manager, project, answer)
    assert dict(shown.getexif()) == {}
    assert "exif" not in shown.info
    row = GuidelinePicture.objects.get()
    assert b"zirconium" not in storage.objects().get(row.key)
    # The left half of the sent picture is the upper one of the shown.
    red, _, blue = shown.convert("RGB").getpixel((10, 5))  # type: ignore[misc]  # three bands
    assert red > blue


def test_several_pictures_of_a_camera_in_one_file_become_the_first(
    project: Project, manager: User
) -> None:
    second = Image.new("RGB", (40, 20), "green")
    data = picture("MPO", save_all=True, append_images=[second])
    answer = send(manager, project, data, "image/jpeg")
    assert answer.json()["media_type"] == "image/jpeg"
    assert stored(manager, project, answer).format == "JPEG"


def test_of_moving_pictures_the_first_frame_is_stored(project: Project, manager: User) -> None:
    frames = [Image.new("RGB", (8, 8), "green")]
    answer = send(manager, project, picture("GIF", (8, 8), save_all=True, append_images=frames))
    shown = stored(manager, project, answer)
    assert getattr(shown, "n_frames", 1) == 1
    assert shown.convert("RGB").getpixel((1, 1)) == (255, 0, 0)


def test_large_pictures_are_scaled_down(project: Project, manager: User) -> None:
    answer = send(manager, project, picture("JPEG", (4200, 1050)))
    assert (answer.json()["width"], answer.json()["height"]) == (2048, 512)


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of few bytes that says that it is very large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0" * 1000)), chunk(b"IEND", b"")]
    )


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("data", "status", "code", "detail"),
    [
        (b"", 400, "guideline_picture_unreadable", "The file is empty."),
        (SVG, 400, "guideline_picture_unreadable", "It is no PNG, JPEG, WebP or GIF picture."),
        (b"%PDF-1.4", 400, "guideline_picture_unreadable", "It is no PNG"),
        (picture("BMP"), 400, "guideline_picture_unreadable", "It is no PNG"),
        (picture("TIFF"), 400, "guideline_picture_unreadable", "It is no PNG"),
        (bomb(100, 100), 400, "guideline_picture_unreadable", "damaged or ends early"),
        (bomb(50_000, 50_000), 413, "guideline_picture_too_large", "more than 50000000 pixels"),
        (b"\0" * 10_000_001, 413, "guideline_picture_too_large", "more than 10000000 bytes"),
    ],
    ids=["empty", "svg", "pdf", "bmp", "tiff", "short", "bomb", "huge"],
)
def test_other_files_are_refused_in_words(
    project: Project, manager: User, data: bytes, status: int, code: str, detail: str
) -> None:
    answer = send(manager, project, data)
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, code)
    assert detail in body["detail"]
    assert not GuidelinePicture.objects.exists()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_half_of_a_picture_is_refused(project: Project, manager: User, form: str) -> None:
    noise = Image.effect_noise((200, 200), 90)
    out = io.BytesIO()
    noise.save(out, form)
    answer = send(manager, project, out.getvalue()[: len(out.getvalue()) // 2])
    assert answer.json()["code"] == "guideline_picture_unreadable"


def test_a_picture_sent_twice_is_one(project: Project, manager: User) -> None:
    first, second = (send(manager, project, picture()) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert first.json()["sha256"] == hashlib.sha256(picture()).hexdigest()
    # Another project has a picture of its own.
    other = make_project()
    elsewhere = send(make_member(other, "researcher"), other, picture())
    assert elsewhere.json()["id"] != first.json()["id"]


@pytest.mark.django_db(transaction=True)
def test_the_same_picture_sent_at_once_is_one(project: Project, manager: User) -> None:
    barrier = threading.Barrier(2)
    answers: list[tuple[int, str]] = []

    def add() -> None:
        try:
            barrier.wait()
            answer = send(manager, project, picture())
            answers.append((answer.status_code, answer.json()["id"]))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = GuidelinePicture.objects.get()
    assert sorted(answers) == [(200, str(row.pk)), (201, str(row.pk))]
    assert storage.objects().exists(row.key)


def test_the_projects_people_see_a_picture_and_strangers_do_not(
    project: Project, manager: User
) -> None:
    made = send(manager, project, picture()).json()
    other = make_project("elsewhere")
    stranger = make_member(other, "admin")
    labeler = Client()
    labeler.force_login(make_member(project, "labeler"))
    shown = labeler.get(address(project, f"{made['id']}/bytes/"))
    assert shown.status_code == 200
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Cache-Control"] == "private, max-age=3600"
    again = labeler.get(
        address(project, f"{made['id']}/bytes/"), headers={"If-None-Match": shown["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    asking = Client()
    assert asking.get(address(project, f"{made['id']}/bytes/")).status_code == 401
    asking.force_login(stranger)
    assert asking.get(address(project, f"{made['id']}/bytes/")).status_code == 404
    # Another project does not show it either, under an address of its own.
    assert asking.get(address(other, f"{made['id']}/bytes/")).status_code == 404
    assert asking.delete(address(other, f"{made['id']}/")).status_code == 404
    assert asking.get(address(project)).status_code == 404


def test_labelers_neither_add_nor_delete(project: Project, manager: User) -> None:
    made = send(manager, project, picture()).json()
    labeler = make_member(project, "labeler")
    assert send(labeler, project, picture("JPEG")).status_code == 403
    client = Client()
    client.force_login(labeler)
    assert client.delete(address(project, f"{made['id']}/")).status_code == 403


def test_a_picture_that_a_guideline_names_stays(project: Project, researcher: Api) -> None:
    manager = make_member(project, "researcher")
    made = send(manager, project, picture()).json()
    path = f"projects/{project.slug}/labelx"
    guideline = f"Like this: ![a car](picture:{made['id'].upper()})"
    task = researcher("POST", f"{path}/tasks/", new_task(project, guideline=guideline)).json()
    assert task["guideline"] == guideline
    [listed] = researcher("GET", f"{path}/guideline-pictures/").json()["results"]
    assert listed == {**made, "uses": 1}
    refused = researcher("DELETE", f"{path}/guideline-pictures/{made['id']}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "guideline_picture_in_use")
    assert refused.json()["detail"] == "These guidelines name it: numbers v1."
    assert storage.objects().exists(GuidelinePicture.objects.get().key)


def test_many_guidelines_that_name_a_picture_are_told_in_short(
    project: Project, researcher: Api
) -> None:
    manager = make_member(project, "researcher")
    made = send(manager, project, picture()).json()
    content = OntologyContent([{"name": "car"}], f"![](picture:{made['id']})")
    for number in range(7):
        create_ontology(project, manager, f"signs {number}", content)
    path = f"projects/{project.slug}/labelx/guideline-pictures/{made['id']}/"
    detail = researcher("DELETE", path).json()["detail"]
    assert "signs 0 v1, signs 1 v1" in detail
    assert detail.endswith("and 2 more.")


def test_a_picture_that_no_guideline_names_is_deleted_with_its_bytes(
    project: Project, researcher: Api
) -> None:
    made = send(make_member(project, "researcher"), project, picture()).json()
    key = GuidelinePicture.objects.get().key
    path = f"projects/{project.slug}/labelx/guideline-pictures/{made['id']}/"
    assert researcher("DELETE", path).status_code == 204
    assert not storage.objects().exists(key)
    assert researcher("GET", f"{path}bytes/").status_code == 404
    assert researcher("DELETE", path).status_code == 404


def test_a_project_has_room_for_a_bounded_number(project: Project, manager: User) -> None:
    sides = {"media_type": "image/png", "size_bytes": 1, "width": 1, "height": 1}
    GuidelinePicture.objects.bulk_create(
        GuidelinePicture(project=project, sha256=bytes([0, *divmod(number, 256)]), **sides)
        for number in range(MAX_PICTURES - 1)
    )
    assert send(manager, project, picture()).status_code == 201
    full = send(manager, project, picture("JPEG"))
    assert (full.status_code, full.json()["code"]) == (409, "guideline_pictures_full")
    # Sent again, it is the picture that is there.
    assert send(manager, project, picture()).status_code == 200


def test_an_object_whose_row_was_never_written_is_deleted_once_it_is_old() -> None:
    project = make_project()
    author = make_member(project, "researcher")
    kept = GuidelinePicture.objects.get(pk=send(author, project, picture()).json()["id"])
    lost = f"{kept.key.rsplit('/', 1)[0]}/0195a3f2-0000-7000-8000-000000000000"
    storage.objects().put(lost, b"a picture")
    assert delete_orphans() == 0
    assert storage.objects().get(lost) == b"a picture"
    # A time in the future makes the object old, whatever the clock of the store says.
    assert delete_orphans(timedelta(hours=-1)) == 1
    assert [stored.key for stored in storage.objects().list_prefix(lost)] == []
    assert storage.objects().get(kept.key)
