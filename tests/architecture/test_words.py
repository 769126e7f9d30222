"""The lint of words names sentences that are riddles and names that say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import words


def write(folder: Path, name: str, text: str) -> list[tuple[str, int, str]]:
    """Return rule, line and text of the offences of a file with this text."""
    path = folder / Path(name).name
    path.write_text(text)
    return [(it.rule, it.line, it.text) for it in words.offences(path, name)]


@pytest.mark.parametrize(
    "text",
    [
        "What was restored is not shown as deleted",
        "Nobody new is named like a service account",
        "Of what a worker verifies the end is known.",
        "Who was told that nothing is sent relies on the pack.",
        "From then on the branch is closed.",
        "So many samples are read at once.",
        "The log is read. What follows it is dropped.",
        "**What a link shows** is frozen.",
    ],
)
def test_a_sentence_begins_with_its_subject(text: str) -> None:
    assert len(words.bad_sentences(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Stop browsers caching the 410 of a restored dataset",
        "Refresh the timestamp: this client now depends on the pack.",
        "Who can see the link of this run?",
        "What changed",
        "From",
        "Whoever holds the lease writes. The log names who it is and what it did.",
        "Office hours of the cluster are read from the settings.",
    ],
)
def test_questions_labels_and_plain_sentences_pass(text: str) -> None:
    assert words.bad_sentences(text) == []


@pytest.mark.parametrize("name", ["found", "_told", "gpus_told", "InvitationOne", "one"])
def test_placeholder_nouns_are_no_names(name: str) -> None:
    assert words.is_placeholder(name)


@pytest.mark.parametrize("name", ["not_found", "many_to_one", "foundation", "NotFound"])
def test_nouns_of_the_type_and_terms_of_the_field_are_names(name: str) -> None:
    assert not words.is_placeholder(name)


def test_code_is_read_with_its_comments_strings_and_names(tmp_path: Path) -> None:
    source = '''"""What every view here shares."""
class Found:
    """A row."""
    told: int
    # Of several rows the newest
    # one counts.
    def one(self):
        given = 1
        return f"Nobody has {given} of these."
'''
    assert sorted(write(tmp_path, "atom/x.py", source)) == [
        ("names", 2, "Found"),
        ("names", 4, "told"),
        ("names", 7, "one"),
        ("sentences", 1, "What every view here shares."),
        ("sentences", 5, "Of several rows the newest one counts."),
        ("sentences", 9, "Nobody has x of these."),
    ]


def test_only_docstrings_and_comments_of_tests_are_read(tmp_path: Path) -> None:
    source = 'def one() -> str:\n    return "What was not sent waits here."\n'
    assert write(tmp_path, "tests/x.py", source) == []


def test_code_in_pages_is_not_read(tmp_path: Path) -> None:
    page = (
        "# What happens when it dies\n```\n# What runs in a shell\n```\n| a | Who may do what |\n"
    )
    assert [line for _, line, _ in write(tmp_path, "docs/x.md", page)] == [1, 5]


def test_words_of_the_portal_are_read(tmp_path: Path) -> None:
    source = "export const x = {\n  who: 'Who sees it?',\n  lost: 'What was lost is named.',\n};\n"
    assert [line for _, line, _ in write(tmp_path, "frontend/src/x.en.ts", source)] == [3]


def test_a_path_selects_a_file_or_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert words.main(["atom/core", "tests/architecture/words.py"]) == 0
    assert capsys.readouterr().out == ""
    assert words.main([]) == 0
