"""The report of the benchmarks: no measure is left out or better than it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import plots
from bench.growth import explanation, page, plot, slope
from bench.harness import PeerFailed, Result, compare, failed, interleave, save, with_earlier
from bench.targets import TARGETS, table


def test_a_peer_that_fails_is_out_and_written_down_with_its_reason() -> None:
    answers = iter([2.0])

    def fragile() -> float:
        try:
            return next(answers)
        except StopIteration:
            raise PeerFailed("it ended") from None

    found = interleave({"ours": lambda: 6.0, "steady": lambda: 3.0, "fragile": fragile}, 3)
    lines = compare("reading", "files/s", found.pop("ours"), found)
    assert [(line.peer, line.ratio, line.failure) for line in lines] == [
        (None, None, None),
        ("steady", 2.0, None),
        ("fragile", None, "it ended"),
    ]


def test_our_own_failure_is_no_peers_failure() -> None:
    def broken() -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interleave({"ours": broken}, 1)


def test_the_page_says_of_every_target_whether_it_is_met() -> None:
    results = [
        Result("random read, warm", 9.0, "files/s", "ext4", 3.0, 3.0, processor=18.2),
        Result("random read, cold", 9.0, "files/s", "ext4", 2.0, 4.5),
        Result("mount of 4,096 packs", 21.0, "ms"),
        failed("loader, warm, samples as given", "no wheel", "Lance, take of 64 rows"),
    ]
    page = table(results, [])
    verdicts = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9:
            verdicts[cells[0], cells[3]] = cells[7]
    assert verdicts["random read, warm", "ext4"] == "yes"
    assert "| ≥ 2.5 | yes | 18.2 |" in page
    assert verdicts["random read, cold", "ext4"] == "**no**"
    assert verdicts["mount of 4,096 packs", ""] == "**no**"
    assert (
        verdicts["loader, warm, samples as given", "Lance, take of 64 rows"] == "failed: no wheel"
    )
    assert verdicts["loader, warm, samples as given", "HF ds[i]"] == "not measured"
    assert {(name, peer or "") for name, peer in TARGETS} <= verdicts.keys()


def test_results_outlive_a_run_that_measures_something_else(tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    old = [Result("a", 1.0, "s"), Result("b", None, "", "tar", failure="gone")]
    save(old, path)
    new = Result("a", 2.0, "s", files=7)
    assert with_earlier([new], path) == [old[1], new]


def test_the_slope_of_growth_is_its_exponent() -> None:
    sizes = (10_000, 100_000, 1_000_000)
    assert slope({size: size * 3e-6 for size in sizes}) == pytest.approx(1)
    assert slope(dict.fromkeys(sizes, 0.2)) == pytest.approx(0)
    text = explanation({"manifest: build (s)": {size: size**1.5 for size in sizes}})
    assert "1 grow faster" in text
    assert "build (1.50)" in text


def test_without_matplotlib_the_run_says_which_figures_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    curves = {"manifest: build (s)": {10_000: 1.0, 100_000: 10.0}}
    plots.plot([Result("random read, warm", 9.0, "files/s", "ext4", 3.0, 3.0)], tmp_path)
    text = page("Growth", plot(curves, tmp_path / "growth.svg"), curves)
    assert not list(tmp_path.iterdir())
    said = capsys.readouterr().err
    assert "ratios.svg is not drawn: matplotlib is not installed" in said
    assert "growth.svg is not drawn" in said
    assert "growth.svg" not in text
    assert "| manifest: build (s) | 10,000 to 100,000 | 1.00 | 1, 10 |" in text
