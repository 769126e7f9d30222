"""Built-in workflows: one folder each, `workflow.json` beside the code.

Keys of workflow.json: title, description, command (list of words), parameters (see
`engines.parameters`), inputs (what the code sees of each dataset parameter, see
`engines.selection`), needs (what must be in it, see `engines.data_needs`), resources {cpus,
memory_bytes, gpus}, requirements (a file name), code (file names), and optionally version,
timeout_s and translations ({language: {title, description, parameters: {name: {title, help}}}}),
writes (true for code that pushes datasets of its project: its attempts get a token for that).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atom.jobs.workflows.engines.data_needs import check_needs
from atom.jobs.workflows.engines.parameters import Parameter, parse_parameter
from atom.jobs.workflows.engines.selection import check_inputs

DEFINITION = "workflow.json"
_KEYS = frozenset(
    [
        "slug",
        "version",
        "title",
        "description",
        "command",
        "parameters",
        "inputs",
        "needs",
        "resources",
        "requirements",
        "code",
        "timeout_s",
        "translations",
        "writes",
    ]
)


class BadWorkflowError(ValueError):
    """A workflow folder is not well formed; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class WorkflowFiles:
    """A workflow as its folder defines it."""

    slug: str
    version: str
    title: str
    description: str
    command: list[str]
    parameters: list[Parameter]
    inputs: dict[str, dict[str, Any]]
    resources: dict[str, int]
    requirements: str
    folder: Path
    code: list[str]
    timeout_s: int | None = None
    translations: dict[str, Any] = field(default_factory=dict)
    writes: bool = False
    needs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def definition(self) -> dict[str, Any]:
        """Return what the database keeps of it."""
        return {
            "parameters": [parameter.as_json() for parameter in self.parameters],
            "inputs": self.inputs,
            "resources": self.resources,
            "requirements": self.requirements,
            "command": self.command,
            "folder": self.folder.name,
            "code": self.code,
            "timeout_s": self.timeout_s,
            "translations": self.translations,
            "writes": self.writes,
            "needs": self.needs,
        }


def load_workflows(root: Path) -> list[WorkflowFiles]:
    """Return every workflow under `root`, by slug."""
    return [load_workflow(found.parent) for found in sorted(root.glob(f"*/{DEFINITION}"))]


def load_workflow(folder: Path) -> WorkflowFiles:
    """Read and check one folder. Raises BadWorkflowError."""
    try:
        data = json.loads((folder / DEFINITION).read_text("utf-8"))
        return _parse(folder, data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadWorkflowError(f"{folder.name}/{DEFINITION}: {error!r}") from error


def _parse(folder: Path, data: dict[str, Any]) -> WorkflowFiles:
    if unknown := set(data) - _KEYS:
        raise ValueError(f"unknown keys {sorted(unknown)}")
    command = data["command"]
    if not command or not all(isinstance(word, str) for word in command):
        raise ValueError("command must be a list of words")
    code = list(data.get("code") or _python_files(folder))
    requirements = data.get("requirements")
    parameters = [parse_parameter(one) for one in data.get("parameters", [])]
    return WorkflowFiles(
        slug=data.get("slug") or folder.name.replace("_", "-"),
        version=str(data.get("version") or _digest(folder)),
        title=data["title"],
        description=data.get("description", ""),
        command=command,
        parameters=parameters,
        inputs=check_inputs(data.get("inputs", {}), parameters),
        resources={name: int(value) for name, value in data.get("resources", {}).items()},
        requirements=(folder / requirements).read_text("utf-8") if requirements else "",
        folder=folder,
        code=code,
        timeout_s=data.get("timeout_s"),
        translations=data.get("translations", {}),
        writes=bool(data.get("writes", False)),
        needs=check_needs(data.get("needs", {}), data.get("inputs", {})),
    )


def _python_files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.py"))]


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
