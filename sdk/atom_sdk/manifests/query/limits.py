"""How large the text of a query may be."""

MAX_TEXT_CHARACTERS = 4000
# sqlglot takes some 20 Python frames per level; this leaves room below the interpreter's limit.
MAX_DEPTH = 25
