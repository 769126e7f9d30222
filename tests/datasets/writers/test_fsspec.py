"""`atom://` addresses in the hands of fsspec, pandas, DuckDB and pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import duckdb
import fsspec
import pandas
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from fsspec import AbstractFileSystem

from atom.datasets.models import Dataset
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, RefSyntaxError
from atom_sdk.client.manifest import RemoteManifest
from atom_sdk.fs import AtomFileSystem
from atom_sdk.manifests.joined import iter_ranges
from tests.datasets.pushing import Pusher
from tests.datasets.writing import rows_of

TABLE = pa.table({"n": list(range(1000)), "text": [f"row {n}" for n in range(1000)]})


@pytest.fixture
def files() -> dict[str, bytes]:
    parquet = io.BytesIO()
    pq.write_table(TABLE, parquet, row_group_size=100)
    return {
        "a.txt": b"hello",
        "empty": b"",
        "tables/x/0.parquet": parquet.getvalue(),
        "tables/x/1.parquet": parquet.getvalue(),
        "tables/x.csv": b"n,m\n1,2\n3,4\n",
        "tables/é b.txt": "中文".encode(),
    }


@pytest.fixture
def fs(
    client: Client, pusher: Pusher, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> Iterator[AbstractFileSystem]:
    pusher.push(files)
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    # The instance that every library below gets, too.
    fs = fsspec.filesystem("atom")
    yield fs
    fs.close()
    AtomFileSystem.clear_instance_cache()


def test_files_are_found_and_read(
    fs: AbstractFileSystem, pusher: Pusher, files: dict[str, bytes]
) -> None:
    root = f"{pusher.project.slug}/digits@v1"
    assert fs.ls("", detail=False) == [pusher.project.slug]
    assert fs.ls(pusher.project.slug, detail=False) == [f"{pusher.project.slug}/digits"]
    assert fs.find(root) == sorted(f"{root}/{path}" for path in files)
    assert fs.glob(f"atom://{root}/tables/*.csv") == [f"{root}/tables/x.csv"]
    assert [(folders, names) for _, folders, names in fs.walk(root)] == [
        (["tables"], ["a.txt", "empty"]),
        (["x"], ["x.csv", "é b.txt"]),
        ([], ["0.parquet", "1.parquet"]),
    ]
    assert all(fs.cat_file(f"{root}/{path}") == data for path, data in files.items())
    assert fs.cat_file(f"{root}/a.txt", 1, -1) == b"ell"
    assert (fs.isdir(f"{root}/tables"), fs.isfile(f"{root}/a.txt")) == (True, True)
    assert fs.size(f"{root}/a.txt") == 5
    with fs.open(f"atom://{root}/tables/x/0.parquet") as file:
        file.seek(-4, io.SEEK_END)
        assert file.read() == b"PAR1"


def test_what_is_on_this_machine_is_read_here(
    fs: AbstractFileSystem, client: Client, pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs.info(f"{pusher.project.slug}/digits@v1/a.txt")
    client.datasets.open("digits@v1")
    pusher.client.logout()
    monkeypatch.setattr(fs._client.http, "post", None)
    assert fs.cat_file(f"{pusher.project.slug}/digits@v1/a.txt") == b"hello"


def test_pandas_duckdb_and_pyarrow_read_it(fs: AbstractFileSystem, pusher: Pusher) -> None:
    root = f"atom://{pusher.project.slug}/digits@v1/tables"
    assert pandas.read_csv(f"{root}/x.csv").values.tolist() == [[1, 2], [3, 4]]
    dataset = pyarrow.dataset.dataset(f"{root.removeprefix('atom://')}/x", filesystem=fs)
    assert dataset.count_rows() == 2000
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        query = f"select count(*), sum(n) from read_parquet('{root}/x/*.parquet') where n < 10"
        assert connection.execute(query).fetchone() == (20, 90)


def test_what_is_not_there_is_said(fs: AbstractFileSystem, pusher: Pusher) -> None:
    root = f"{pusher.project.slug}/digits@v1"
    for path in (f"{root}/no", f"{root}/a.txt/b", f"{pusher.project.slug}/none@v1/a", f"{root}9/a"):
        assert not fs.exists(path)
        with pytest.raises(FileNotFoundError):
            fs.cat_file(path)
        with pytest.raises(FileNotFoundError):
            fs.ls(path)
    with pytest.raises(IsADirectoryError):
        fs.cat_file(f"{root}/tables")
    with pytest.raises(RefSyntaxError):
        fs.info(f"{pusher.project.slug}/Bad Name/x")


def test_what_is_absent_is_so_for_every_question(fs: AbstractFileSystem, pusher: Pusher) -> None:
    project = pusher.project.slug
    Dataset.objects.create(project=pusher.project, name="bare").branches.create(name="main")
    for path in ("no-such-project", f"{project}/none", f"{project}/digits@v9", "Bad Name"):
        assert not any(ask(path) for ask in (fs.exists, fs.isdir, fs.isfile)), path
    for path in ("no-such-project", f"{project}/none", f"{project}/digits@v9/x"):
        assert fs.find(path) == fs.glob(f"{path}/*") == []
        for question in (fs.info, fs.ls, fs.cat_file, fs.size, fs.modified):
            with pytest.raises(FileNotFoundError):
                question(path)
    for folder in ("", project, f"{project}/digits", f"{project}/bare", f"{project}/bare@main"):
        assert fs.isdir(folder), folder
        assert not fs.isfile(folder)
    assert fs.ls(f"{project}/bare@main") == []
    with pytest.raises(IsADirectoryError):
        fs.cat_file(f"{project}/digits")


def test_a_server_that_does_not_answer_does_not_say_that_a_file_is_gone(
    fs: AbstractFileSystem, client: Client, pusher: Pusher
) -> None:
    other = AtomFileSystem(client.config.url, "wrong", skip_instance_cache=True)
    for question in (other.exists, other.isdir, other.isfile, other.find):
        with pytest.raises(ApiError) as raised:
            question(f"{pusher.project.slug}/digits@v1/a.txt")
        assert raised.value.status == 401
    other.close()


def test_what_was_found_on_a_branch_is_read_though_the_branch_moves(
    fs: AbstractFileSystem, client: Client, pusher: Pusher
) -> None:
    path = f"{pusher.project.slug}/digits@main/a.txt"
    with fs.open(path, block_size=1) as file:
        begun = RemoteManifest(client.http, client.datasets.version_base("digits@main"))
        fs.pipe(path, b"another text")
        assert file.read() == b"hello"
    tables = list(iter_ranges(begun.root, begun))
    assert [table["size"][0].as_py() for table in tables] == [5]
    assert fs.cat_file(path) == b"another text"


def test_what_is_buffered_is_one_version_or_none(
    fs: AbstractFileSystem, client: Client, pusher: Pusher, files: dict[str, bytes]
) -> None:
    root = f"{pusher.project.slug}/digits@main"

    def contents() -> dict[str, bytes]:
        return {path.removeprefix(f"{root}/"): fs.cat_file(path) for path in fs.find(root)}

    def write(number: int) -> dict[str, bytes]:
        with fs.buffered():
            frame = pandas.DataFrame({"part": ["a", "b"], "n": [1, 2]})
            frame.to_parquet(f"atom://{root}/frames", partition_cols=["part"])
            assert len(fs.find(f"{root}/frames")) == 2
            fs.pipe(f"{root}/a.txt", b"changed")
            fs.cp(f"{root}/a.txt", f"{root}/copy.txt")
            fs.mv(f"{root}/tables/x", f"{root}/moved", recursive=True)
            fs.rm(f"{root}/empty")
            with pytest.raises(FileNotFoundError):
                fs.rm(f"{root}/empty")
            with pytest.raises(RuntimeError, match="buffered already"), fs.transaction:
                pass
            _ = 1 / number
            shown = contents()
            assert pusher.get("versions/main/")["ref"] == "v1", "nobody else sees it"
            return shown

    with pytest.raises(ZeroDivisionError):
        write(0)
    assert contents() == files
    shown = write(1)
    assert contents() == shown
    assert (shown["copy.txt"], set(files) - set(shown)) == (
        b"changed",
        {"empty", "tables/x/0.parquet", "tables/x/1.parquet"},
    )
    assert pusher.get("versions/main/")["ref"] == "v2"
    assert pandas.read_parquet(f"atom://{root}/frames")["n"].tolist() == [1, 2]


def test_a_version_cannot_be_changed(fs: AbstractFileSystem, pusher: Pusher) -> None:
    path = f"{pusher.project.slug}/digits@v1/a.txt"
    for change in (fs.rm, fs.touch, fs.mkdir, lambda p: fs.open(p, "wb"), lambda p: fs.mv(p, "b")):
        with pytest.raises(PermissionError, match="cannot be changed"):
            change(path)
    assert fs.cat_file(path) == b"hello"


def test_what_is_written_is_the_branchs_next_version(
    fs: AbstractFileSystem, pusher: Pusher, tmp_path: Path
) -> None:
    root = f"{pusher.project.slug}/digits@main"
    frame = pandas.DataFrame({"n": [1, 2, 3]})
    frame.to_parquet(f"atom://{root}/frames/n.parquet")
    assert pandas.read_parquet(f"atom://{root}/frames/n.parquet").equals(frame)
    assert pusher.get("versions/main/")["ref"] == "v2"

    for name in ("a", "b"):
        (tmp_path / "local" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "local" / name).write_text(name)
    fs.makedirs(f"{root}/put")
    fs.put(str(tmp_path / "local") + "/", f"{root}/put/", recursive=True)
    assert pusher.get("versions/main/")["added"] == 2, "one call is one version"

    fs.mv(f"{root}/tables/x", f"{root}/moved", recursive=True)
    assert fs.find(f"{root}/moved") == [f"{root}/moved/0.parquet", f"{root}/moved/1.parquet"]
    assert not fs.exists(f"{root}/tables/x")
    fs.rm(f"{root}/put", recursive=True)
    assert pusher.get("versions/main/")["ref"] == "v5"
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{root}/put/a")
    with pytest.raises(FileExistsError):
        fs.open(f"{root}/a.txt", "xb")
    with pytest.raises(ValueError, match="written whole"):
        fs.open(f"{root}/a.txt", "ab")
    with pytest.raises(PermissionError, match="no branch none"):
        fs.pipe(f"{pusher.project.slug}/digits@none/a", b"x")
    assert pusher.get("versions/main/")["ref"] == "v5"


def test_what_belongs_to_a_file_goes_along_when_it_is_moved_or_copied(
    fs: AbstractFileSystem, client: Client, pusher: Pusher
) -> None:
    edits = [
        {"op": "label", "paths": ["a.txt"], "value": "greeting"},
        {"op": "split", "paths": ["a.txt", "tables/x/1.parquet"], "value": "test"},
        {"op": "set", "paths": ["a.txt", "tables/x/1.parquet"], "attributes": {"patient": 7}},
    ]
    done = pusher.post("edits/", {"edits": edits, "branch": "main"})
    assert done["state"] == "published", done
    fs.invalidate_cache()
    root = f"{pusher.project.slug}/digits@main"

    fs.mv(f"{root}/a.txt", f"{root}/b.txt")
    fs.mv(f"{root}/tables/x", f"{root}/moved", recursive=True)
    fs.cp_file(f"{root}/b.txt", f"{root}/c.txt")

    found = rows_of(client, "digits@main")
    for path, label in (("b.txt", "greeting"), ("c.txt", "greeting"), ("moved/1.parquet", None)):
        row = found[path]
        assert (row["label"], row["split"], row["attributes"]) == (label, "test", {"patient": 7})
    other = found["moved/0.parquet"]
    assert (other["split"], other["attributes"]) == ("train", {})


def test_a_transaction_is_one_version_or_none(fs: AbstractFileSystem, pusher: Pusher) -> None:
    root = f"{pusher.project.slug}/digits@main"

    def write(number: int) -> None:
        with fs.transaction:
            fs.pipe(f"{root}/new/{number}", b"new")
            fs.pipe(f"{root}/new/forgotten", b"x")
            fs.rm(f"{root}/new/forgotten")
            fs.cp_file(f"{root}/a.txt", f"{root}/new/copy")
            fs.rm(f"{root}/empty")
            with fs.open(f"{root}/new/text", "w", encoding="utf-8") as file:
                file.write("é")
            assert not fs.exists(f"{root}/new/{number}"), "not before it is committed"
            _ = 1 / number

    with pytest.raises(ZeroDivisionError):
        write(0)
    assert (pusher.get("versions/main/")["ref"], fs.exists(f"{root}/empty")) == ("v1", True)
    write(1)
    assert pusher.get("versions/main/")["ref"] == "v2"
    found = {path.rpartition("/")[2]: fs.cat_file(path) for path in fs.find(f"{root}/new")}
    assert found == {"1": b"new", "copy": b"hello", "text": "é".encode()}
    assert not fs.exists(f"{root}/empty")
    fs.pipe(f"{root}/after", b"the file system goes on")
    assert fs.cat_file(f"{root}/after") == b"the file system goes on"
