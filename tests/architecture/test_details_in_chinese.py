"""Every text that a problem's detail is made of has its Chinese words in the portal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from atom.settings.environment import BASE_DIR

_WORDS = BASE_DIR / "frontend/src/i18n/details.zh.ts"
_SENTENCES = BASE_DIR / "frontend/src/i18n/sentences.zh.ts"
_SENTENCE = re.compile(r"^  '([a-z_]+\.[a-z_]+)': '(.*)',$", re.M)
_ENTRY = re.compile(
    r"^  (?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(\w+)):\s+'((?:[^'\\]|\\.)*)',$", re.M
)
# Tools read the answers of these folders, not people in the portal.
_FOR_TOOLS = ("atom/gateway/s3/", "atom/mlflow_api/", "atom/dev/")
# Their texts become the details of a problem, or are told at a field of a form.
_TOLD_ON = {
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
    "WrongValueError",
    # The errors of one term of a search for runs.
    "wrong",
}


def test_every_detail_has_its_words_and_no_words_are_left_over() -> None:
    texts = {text for text in _texts() if text != "{}"}
    words = _words()

    assert sorted(texts - words.keys()) == []
    assert sorted(words.keys() - texts) == []


def test_words_name_no_value_that_their_text_does_not_have() -> None:
    for text, words in _words().items():
        used = {int(number) for number in re.findall(r"\{(\d+)(?::w)?\}", words)}
        assert used == set(range(1, text.count("{}") + 1)), text


def test_every_sentence_has_its_words_and_no_words_are_left_over() -> None:
    sentences = dict(_sentences())
    words = dict(_SENTENCE.findall(_SENTENCES.read_text()))

    assert sorted(sentences.keys() ^ words.keys()) == []
    for code, said in words.items():
        assert set(re.findall(r"\{(\w+)(?::w)?\}", said)) <= sentences[code], code


def _sentences() -> Iterator[tuple[str, set[str]]]:
    """The code of each sentence in the code, with the names of its parameters."""
    for folder in ("atom", "sdk/atom_sdk"):
        for path in (BASE_DIR / folder).rglob("*.py"):
            if "Sentence(" not in (source := path.read_text()):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
                    yield str(ast.literal_eval(node.args[0])), {str(k.arg) for k in node.keywords}


def _words() -> dict[str, str]:
    table = _WORDS.read_text().partition("const details")[2].partition("\n};")[0]
    found = {
        re.sub(r"\\(.)", r"\1", single or double or bare): words
        for single, double, bare, words in _ENTRY.findall(re.sub(r":\n\s+", ": ", table))
    }
    assert len(found) == len(re.findall(r"^  \S.*:", table, re.M)), "an entry is not understood"
    return found


def _texts() -> Iterator[str]:
    server = {path: _nodes(path) for path in (BASE_DIR / "atom").rglob("*.py")}
    problems = _problems(node for nodes in server.values() for node in nodes)
    for path, nodes in server.items():
        if not str(path.relative_to(BASE_DIR)).startswith(_FOR_TOOLS):
            yield from _texts_in(nodes, _TOLD_ON | problems)
    for path in (BASE_DIR / "sdk/atom_sdk").rglob("*.py"):
        yield from _texts_in(_nodes(path), _TOLD_ON)


def _nodes(path: Path) -> list[ast.ClassDef | ast.Call]:
    """The classes and calls of a file that says something of an error."""
    source = path.read_text()
    if "rror" not in source:
        return []
    return [
        each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ClassDef | ast.Call)
    ]


def _problems(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of the server's error classes."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for node in nodes
        if isinstance(node, ast.ClassDef)
    }
    found = {"AtomError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _texts_in(nodes: Iterable[ast.AST], names: set[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in names:
                yield from _possible_texts(node.args[0])


def _possible_texts(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be, with `{}` for each value in them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from _possible_texts(one)
            yield from _possible_texts(other)
