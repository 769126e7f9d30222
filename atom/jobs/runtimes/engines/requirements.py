"""Requirements of a run: the logical lines that pip would read, and their one form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from packaging.requirements import InvalidRequirement, Requirement

from atom_sdk.sentences import Sentence

_COMMENT = re.compile(r"(^| )#.*$")
_OPTION = r"--(?:pre|prefer-binary|require-hashes|(?:no|only)-binary[= ][\w:][\w.,:-]*)"
_OPTIONS = re.compile(rf"{_OPTION}(?: {_OPTION})*", re.ASCII)
_HASH = re.compile(r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}")
# pip would put in what the server's environment has.
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
_PATH = re.compile(r"[./~]|\w:\\|\w[\w+]*:/|\S*/")
_SCHEMES = ("https://", "git+https://")
_MAX_CHARACTERS = 2000
_SHOWN_CHARACTERS = 100
_MAX_SAID = 5

NOT_A_REQUIREMENT = Sentence(
    "requirements.not_a_requirement",
    ("This is no requirement. Write a name and versions as in 'numpy>=2', a line each."),
)
NOT_A_HASH = Sentence(
    "requirements.not_a_hash", "This is no hash. Write --hash=sha256: and its 64 digits."
)
VARIABLE = Sentence("requirements.variable", "Variables are not put in. Write the value itself.")
OTHER_FILE = Sentence(
    "requirements.other_file",
    "Other files are not read. Write the requirements that are in it here.",
)
PATH = Sentence(
    "requirements.path",
    (
        "Paths and addresses alone are not installed. Write 'name @ "
        "https://…', or put the package's files into the code that you send."
    ),
)
OTHER_ADDRESS = Sentence(
    "requirements.other_address", "Only https:// and git+https:// addresses are taken."
)
OTHER_OPTION = Sentence(
    "requirements.other_option",
    (
        "This option is not taken. Take it out; which package index is used is "
        "a setting of the server (ATOM_RUNTIME_PIP_OPTIONS), so ask who runs "
        "it. Taken are --no-binary, --only-binary, --pre, --prefer-binary and "
        "--require-hashes."
    ),
)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each logical line without its comment, and the number of its first line.

    A backslash at the end goes on in the next line, as with the hashes that pip-compile writes.
    """
    parts: list[str] = []
    begun = 1
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun if parts else number
        # As pip does it: a comment of its own ends what went on, with a backslash too.
        is_comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not is_comment:
            parts.append(line.strip("\\"))
            continue
        parts.append(f" {line}" if is_comment else line)
        yield from _whole(begun, parts)
        parts = []
    yield from _whole(begun, parts)


def _whole(number: int, parts: list[str]) -> Iterator[tuple[int, str]]:
    # Spaces differ by how the lines were broken, and mean nothing.
    if found := _COMMENT.sub("", " ".join("".join(parts).split())):
        yield number, found


def normalise(text: str) -> str:
    """Return the requirements without comments, blank lines and differences in order.

    Options come first, in their own order: a later one counts more than an earlier one.
    """
    found = [line for _, line in logical_lines(text)]
    options = dict.fromkeys(line for line in found if line.startswith("-"))
    wanted = sorted({line for line in found if not line.startswith("-")})
    return "".join(f"{line}\n" for line in (*options, *wanted))


def has_hashes(text: str) -> bool:
    """Return whether pip takes only what has a hash."""
    lines = [line for _, line in logical_lines(text)]
    return any(" --hash" in line or line.startswith("--require-hashes") for line in lines)


def wrong_lines(text: str) -> list[str]:
    """Return why each refused line is refused; only the first few."""
    checked = ((number, line, _wrong(line)) for number, line in logical_lines(text))
    found = (
        Sentence(
            "requirements.line",
            "Line {number}, '{line}': {reason}",
            number=number,
            line=line[:_SHOWN_CHARACTERS],
            reason=reason,
        )
        for number, line, reason in checked
        if reason
    )
    return list(islice(found, _MAX_SAID))


def _wrong(line: str) -> str:
    if _VARIABLE.search(line):
        return VARIABLE
    if line.startswith("-"):
        return _wrong_option(line)
    wanted, *hashes = re.split(r" --hash[= ]", line)
    if not all(_HASH.fullmatch(one) for one in hashes):
        return NOT_A_HASH
    # pip splits at words like these, inside quotes too.
    if len(wanted) > _MAX_CHARACTERS or " -" in wanted:
        return NOT_A_REQUIREMENT
    try:
        url = Requirement(wanted).url
    except (InvalidRequirement, RecursionError):
        return PATH if _PATH.match(wanted) else NOT_A_REQUIREMENT
    return "" if url is None or url.lower().startswith(_SCHEMES) else OTHER_ADDRESS


def _wrong_option(line: str) -> str:
    if _OPTIONS.fullmatch(line):
        return ""
    if line.startswith(("-r", "-c", "--req", "--con")):
        return OTHER_FILE
    return PATH if line.startswith(("-e", "--edit")) else OTHER_OPTION
