"""The rules of words that a program can check; CONTRIBUTING.md lists all five.

`python -m tests.architecture.words` checks the tree and `make check` runs it; paths after it narrow
the check to them.

A question may begin with What or Who, as a heading or as a label. A label of fewer than four words
is no sentence: "From", "Who" and "What changed" pass. Blocks of code in pages are not read.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from atom.settings.environment import BASE_DIR

SHORTEST_SENTENCE = 4
CODE = ("atom", "sdk", "agent", "demo", "bench")
ROOTS = (*CODE, "tests", "docs", "deploy", "frontend/src", "frontend/tools", ".ci")
SKIPPED = re.compile(r"/migrations/|/node_modules/|/__pycache__/|\.egg-info/|test_words\.py$")

BEGIN = re.compile(r"(?:What|Who|Of|Nobody|From|So many)\b(?!['’]s\b|-)")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)*_]*\s+")
# Marks before a sentence: headings, lists, quotes, emphasis, links and images.
MARKS = re.compile(r"^(?:[\s#>*_+\-\"'“‘(\[!•]|\d+\.\s)+")
PLACEHOLDERS = {"found", "said", "told", "one", "wanted", "given", "asked"}
# Terms of the field: HTTP's "not found" and the ends of relations.
TERMS = ("not_found", "to_one")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Offence(NamedTuple):
    """A sentence or a name that breaks a rule, and where."""

    rule: str
    path: str
    line: int
    text: str


def bad_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph that begin with a word of rule 1 and are no question."""
    sentences = (MARKS.sub("", part) for part in SENTENCE_END.split(" ".join(text.split())))
    return [
        sentence
        for sentence in sentences
        if BEGIN.match(sentence)
        and not sentence.rstrip("\"'”’)*_|").endswith("?")
        and len(sentence.split()) >= SHORTEST_SENTENCE
    ]


def bad_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of functions, classes and fields named with a placeholder noun."""
    owners: list[ast.Module | ast.ClassDef] = [ast.parse(source)]
    while owners:
        for node in owners.pop().body:
            if isinstance(node, ast.ClassDef):
                owners.append(node)
            if (name := _name(node)) and is_placeholder(name):
                yield node.lineno, name


def is_placeholder(name: str) -> bool:
    """Return whether the last word of a name is a placeholder noun."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return words.split("_")[-1] in PLACEHOLDERS and not words.endswith(TERMS)


def paragraphs_of_python(source: str, *, strings: bool) -> Iterator[tuple[int, str]]:
    """Yield line and text of docstrings and comments, and of all other strings if `strings`."""
    nodes = list(ast.walk(ast.parse(source)))
    parts = {part for it in nodes if isinstance(it, ast.JoinedStr) for part in it.values}
    for node in nodes:
        if strings and node not in parts:
            yield from _split(getattr(node, "lineno", 0), _string(node))
        elif not strings and isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield from _split(node.body[0].lineno, text)
    comments = [
        (token.start[0], token.string.lstrip("#: "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    yield from _joined(comments)


def paragraphs_of_page(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of a Markdown page's paragraphs, items and cells, without its code."""
    source = re.sub(r"^( *)(```|~~~).*?^ *\2[^\n]*$", _blank, source, flags=re.S | re.M)
    source = re.sub(r"<!--.*?-->|`[^`\n]*`", _blank, source, flags=re.S)
    block = r"^ *(?:[-*+] |\d+\. |#+ |\|)|^ *$"
    start, lines = 1, list[str]()
    for at, line in enumerate([*source.splitlines(), ""], 1):
        if re.match(block, line):
            yield start, " ".join(lines)
            start, lines = at, []
        if line.startswith(("#", "|")):
            yield from ((at, cell) for cell in line.split("|"))
        else:
            lines.append(line)


def paragraphs_of_script(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of a TypeScript file's comments; of a file of words, its strings too."""
    for match in re.finditer(r"/\*\*?(.*?)\*/", source, re.S):
        text = re.sub(r"^\s*\* ?", "", match[1], flags=re.M)
        yield from _split(source.count("\n", 0, match.start()) + 1, text)
    lines = enumerate(source.splitlines(), 1)
    yield from _joined([(at, line.strip()[2:]) for at, line in lines if _is_remark(line)])


def paragraphs_of_words(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the sentences in a file of the portal's words."""
    yield from paragraphs_of_script(source)
    for match in re.finditer(r"'((?:[^'\\\n]|\\.)*)'|\"([^\"\n]*)\"", source):
        yield source.count("\n", 0, match.start()) + 1, match[1] or match[2] or ""


def paragraphs_of_settings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the comments of YAML, shell and make."""
    lines = enumerate(source.splitlines(), 1)
    yield from _joined([(at, it.strip(" \t@#")) for at, it in lines if re.match(r"\s*@?#", it)])


def offences(path: Path, name: str) -> Iterator[Offence]:
    """Yield the offences of one file; `name` is its path in the tree."""
    source = path.read_text(errors="replace")
    is_code = path.suffix == ".py" and name.split("/")[0] in CODE
    if re.search(rf"\b{BEGIN.pattern}", source):
        for line, text in _paragraphs(path, source, is_code=is_code):
            for sentence in bad_sentences(text):
                yield Offence("sentences", name, line, sentence)
    if is_code:
        if is_placeholder(path.stem):
            yield Offence("names", name, 1, path.stem)
        for line, text in bad_names(source):
            yield Offence("names", name, line, text)


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _paragraphs(path: Path, source: str, *, is_code: bool) -> Iterator[tuple[int, str]]:
    if path.suffix == ".py":
        yield from paragraphs_of_python(source, strings=is_code)
    elif path.suffix == ".md":
        yield from paragraphs_of_page(source)
    elif path.name.endswith(".en.ts"):
        yield from paragraphs_of_words(source)
    elif path.suffix in (".ts", ".tsx", ".mjs"):
        yield from paragraphs_of_script(source)
    elif path.suffix in (".yml", ".yaml", ".sh", ".toml", "") and path.name != "openapi.yaml":
        yield from paragraphs_of_settings(source)


def _string(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_string(part) or "x" for part in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def _split(line: int, text: str) -> Iterator[tuple[int, str]]:
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[-*] )", text):
        yield line, paragraph
        line += paragraph.count("\n") + 1


def _joined(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join the lines that follow each other."""
    start, last, texts = 0, -1, list[str]()
    for at, text in [*lines, (sys.maxsize, "")]:
        if at != last + 1:
            yield start, " ".join(texts)
            start, texts = at, []
        texts.append(text)
        last = at


def _blank(match: re.Match[str]) -> str:
    return "x" + "\n" * match[0].count("\n")


def _is_remark(line: str) -> bool:
    return line.lstrip().startswith("//")


def tree() -> Iterator[Path]:
    """Yield the files that the rules hold for."""
    yield from (path for path in BASE_DIR.iterdir() if path.suffix in (".md", ".toml"))
    yield BASE_DIR / "Makefile"
    kinds = (".py", ".md", ".ts", ".tsx", ".mjs", ".yml", ".yaml", ".sh")
    for root in ROOTS:
        files = sorted((BASE_DIR / root).rglob("*"))
        yield from (it for it in files if it.suffix in kinds and not SKIPPED.search(str(it)))


def main(paths: list[str]) -> int:
    """Print the offences, of all files or below `paths`; return the exit code."""
    found = [
        offence
        for path in tree()
        if _is_below(name := str(path.relative_to(BASE_DIR)), paths)
        for offence in offences(path, name)
    ]
    for it in found:
        print(f"{it.path}:{it.line}: {it.rule}: {it.text}")
    return 1 if found else 0


def _is_below(name: str, paths: list[str]) -> bool:
    return not paths or any(name == path or name.startswith(f"{path}/") for path in paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
