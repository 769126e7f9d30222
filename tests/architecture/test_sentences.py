"""Every text that a problem shows is a sentence with a code, and has its Chinese in the portal."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Formatter

from atom.settings.environment import BASE_DIR

_WORDS = BASE_DIR / "frontend/src/i18n/sentences"
_ENTRY = re.compile(r"^  '([a-z_]+\.[a-z0-9_]+)':\s+'(.*)',$", re.M)
_SLOT = re.compile(r"\{(\w+)(?::w)?\}")
# Tools read these answers, not people in the portal.
_FOR_TOOLS = ("atom/gateway/s3/", "atom/mlflow_api/", "atom/dev/")
# The texts of these become the details of a problem, or stand at a field of a form.
_SHOWN = {
    "AddressRefusedError",
    "BadAddressError",
    "ChangesError",
    "EditError",
    "HostUnknownError",
    "LayerKindError",
    "MalformedEvaluation",
    "MalformedFeatures",
    "NothingSelectedError",
    "PathTakenError",
    "PatternError",
    "QueryColumnError",
    "QuerySyntaxError",
    "QueryTermError",
    "QueryTooLargeError",
    "QueryTypeError",
    "RunQueryError",
    "SplitSpecError",
    "ValidationError",
    "WrongValueError",
    # A term of the search for runs makes its errors with it.
    "wrong",
}


# Reports of imports show its texts as reasons, which the portal translates by their words.
_REASONS = {"DownloadRefusedError"}
# The errors of an import, and of files, with their subclasses.
_READERS = {"ImportFailedError", "NoObjectsError", "TargetTakenError", "XmlRefusedError"}
# Only the command line shows the errors of these: they count what an import would lose.
_OF_THE_COMMAND_LINE = "sdk/atom_sdk/client/"


def test_every_sentence_has_its_words_and_no_words_are_left_over() -> None:
    templates = {code: template for code, template, _ in _sentences()}
    entries = _chinese()
    words = dict(entries)

    assert [code for code, times in Counter(code for code, _ in entries).items() if times > 1] == []
    assert sorted(templates.keys() ^ words.keys()) == []
    for code, text in words.items():
        assert set(_SLOT.findall(text)) <= _slots(templates[code]), code


def test_a_code_means_one_sentence_and_names_what_its_text_names() -> None:
    known: dict[str, str] = {}
    for code, template, parameters in _sentences():
        assert known.setdefault(code, template) == template
        # None: the parameters are in a mapping, which the call unpacks.
        assert None in parameters or parameters == _slots(template), code


def test_no_problem_is_raised_with_a_text_without_a_code() -> None:
    server = {path: _nodes(path) for path in (BASE_DIR / "atom").rglob("*.py")}
    problems = _problems(node for nodes in server.values() for node in nodes)
    bare = []
    for path, nodes in server.items():
        if not str(path.relative_to(BASE_DIR)).startswith(_FOR_TOOLS):
            bare += [f"{path}: {text}" for text in _bare_in(nodes, _SHOWN | problems)]
    sdk = {path: _nodes(path) for path in (BASE_DIR / "sdk/atom_sdk").rglob("*.py")}
    for path, nodes in sdk.items():
        bare += [f"{path}: {text}" for text in _bare_in(nodes, _SHOWN)]

    assert bare == []


def test_no_reader_of_files_says_why_it_fails_without_a_code() -> None:
    sdk = {path: _nodes(path) for path in (BASE_DIR / "sdk/atom_sdk").rglob("*.py")}
    errors = _problems((node for nodes in sdk.values() for node in nodes), _READERS) - _REASONS
    assert {"AnnotationsUnreadableError", "NoPictureMatchedError", "ArchiveDamagedError"} <= errors
    bare = []
    for path, nodes in sdk.items():
        if not str(path.relative_to(BASE_DIR)).startswith(_OF_THE_COMMAND_LINE):
            bare += [f"{path}: {text}" for text in _bare_in(nodes, errors)]

    assert bare == []


def _chinese() -> list[tuple[str, str]]:
    """The codes and the Chinese of the files that the portal joins."""
    joined = re.findall(r"from '\./(\w+\.zh)'", (_WORDS / "zh.ts").read_text())
    texts = [(_WORDS / f"{name}.ts").read_text() for name in joined]
    return [entry for text in texts for entry in _ENTRY.findall(re.sub(r":\n\s+", ": ", text))]


def _sentences() -> Iterator[tuple[str, str, set[str | None]]]:
    """The code and the template of each sentence in the code, with the names of its parameters."""
    for folder in ("atom", "sdk/atom_sdk"):
        for path in (BASE_DIR / folder).rglob("*.py"):
            if "Sentence(" not in (source := path.read_text()):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
                    code, template = map(ast.literal_eval, node.args)
                    yield code, template, {keyword.arg for keyword in node.keywords}


def _slots(template: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _nodes(path: Path) -> list[ast.ClassDef | ast.Call]:
    """The classes and calls of a file that says something of an error."""
    source = path.read_text()
    if "rror" not in source and "Invalid" not in source:
        return []
    return [
        each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ClassDef | ast.Call)
    ]


def _problems(nodes: Iterable[ast.AST], of: Iterable[str] = ("AtomError",)) -> set[str]:
    """The names of some error classes, the server's if none are named, and of their subclasses."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for node in nodes
        if isinstance(node, ast.ClassDef)
    }
    found = set(of)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _bare_in(nodes: Iterable[ast.AST], names: set[str]) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        # Those with a code of their own have their words among those of fields.
        if name in names and not any(k.arg == "code" for k in node.keywords):
            shown = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "errors")]
            for argument in shown:
                yield from _texts_in(argument)


def _texts_in(node: ast.expr) -> Iterator[str]:
    """The bare texts that an expression may show."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            yield ast.unparse(node)
        case ast.IfExp(body=one, orelse=other):
            yield from _texts_in(one)
            yield from _texts_in(other)
        case ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _texts_in(part)
