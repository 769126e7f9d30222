"""Sentences that several readers of files say: the file, the place in it, and the fault."""

from __future__ import annotations

import json

from atom_sdk.sentences import Sentence


def at_line(problem: str, line: int, column: int) -> Sentence:
    """Say where a fault is in a file; lines and columns count from 1."""
    return Sentence(
        "formats.at_line",
        "{problem}: line {line} column {column}",
        problem=problem,
        line=line,
        column=column,
    )


def json_problem(error: ValueError | RecursionError) -> str:
    """Say why a text is no JSON, in a few words and without the place."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, RecursionError):
        return Sentence("formats.json_too_deep", "its values are nested too deeply")
    if isinstance(error, UnicodeDecodeError):
        return Sentence("formats.text_not_utf8", "it is not UTF-8 text")
    # Python converts no longer ones.
    return Sentence("formats.json_number_long", "a number has too many digits")


def not_json(path: str, reason: str) -> Sentence:
    """Say that a file is no JSON."""
    return Sentence("formats.not_json", "{path} is not JSON: {reason}.", path=path, reason=reason)


def file_not_json(path: str, error: ValueError | RecursionError) -> Sentence:
    """Say that a file is no JSON, of the error of `json.loads` for the whole of it."""
    reason = json_problem(error)
    if isinstance(error, json.JSONDecodeError):
        reason = at_line(reason, error.lineno, error.colno)
    return not_json(path, reason)


def line_not_json(path: str, line: int, error: ValueError | RecursionError) -> Sentence:
    """Say that a line is no JSON, of the error of `json.loads` for that line."""
    reason = json_problem(error)
    if isinstance(error, json.JSONDecodeError):
        reason = Sentence(
            "formats.at_column", "{problem}: column {column}", problem=reason, column=error.colno
        )
    return Sentence(
        "formats.line_not_json",
        "{path}, line {line} is not JSON: {reason}.",
        path=path,
        line=line,
        reason=reason,
    )


def not_utf8(path: str) -> Sentence:
    """Say that a file is text of another encoding."""
    return Sentence("formats.not_utf8", "{path} is not UTF-8 text.", path=path)


def not_readable(path: str, error: BaseException) -> Sentence:
    """Say that a library cannot read a file, in its words."""
    return Sentence(
        "formats.not_readable", "{path} cannot be read: {reason}.", path=path, reason=str(error)
    )


def file_too_large(path: str, limit: str) -> Sentence:
    """Say that a file is above the limit, such as "64 MiB"."""
    return Sentence(
        "formats.file_too_large", "{path} has more than {limit}.", path=path, limit=limit
    )


def column_twice(path: str) -> Sentence:
    """Say that a table has two columns of one name."""
    return Sentence("formats.column_twice", "{path}: a column comes twice.", path=path)


def pose_without_shape(name: str) -> Sentence:
    """Say that a YOLO set of poses does not say what its numbers are."""
    return Sentence(
        "formats.yolo_pose_shape",
        "{name}: poses need kpt_shape: [points, 2 or 3] in data.yaml.",
        name=name,
    )


def member_damaged(member: str, error: BaseException) -> Sentence:
    """Say that a member of an archive is not what its header says."""
    return Sentence(
        "formats.member_damaged",
        "The member {member!r} is damaged: {reason}.",
        member=member,
        reason=str(error),
    )


def format_unknown(name: str, known: str) -> Sentence:
    """Say that no format has this name; `known` are those that there are."""
    return Sentence(
        "formats.format_unknown",
        "There is no format {name}. Formats: {known}.",
        name=name,
        known=known,
    )
