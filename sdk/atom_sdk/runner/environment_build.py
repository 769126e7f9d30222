"""`build-environment`: builds a Python environment in a pod and sends it to the server.

The environment is made at the path at which runs unpack it: its scripts name that path.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .api import Api, ApiError, RevokedError, UnreachableError
from .archive import pack
from .build_process import BuildError, BuildOutput, run_command
from .config import ConfigError
from .inputs import InputError, digest_of, download, put, verify
from .join import Assignment, PodConfig, RefusedError, StoppedError, join, pod_config, say
from .pod_exits import NO_LONGER_OURS, REFUSED, TERMINATED

# One PUT of S3 takes no more.
LARGEST_ARCHIVE_BYTES = 5 * 1024**3
_DIST_INFO = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*)-([A-Za-z0-9][A-Za-z0-9._!+]*)\.dist-info")
_FAILED = 1
_PIP_OPTIONS = [
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar",
    "off",
    "--no-compile",
]
# Compiled modules that name no time are valid wherever the environment is copied to, and the same
# packages give the same bytes. A module that does not compile is for another Python.
_COMPILE = (
    "import compileall, py_compile, sys\n"
    "mode = py_compile.PycInvalidationMode.UNCHECKED_HASH\n"
    "compileall.compile_dir(sys.argv[1], quiet=2, force=True, invalidation_mode=mode)\n"
)
# zip's oldest date, for packages that are built from sources; sets are compiled in one order.
_REPEATABLE = {"SOURCE_DATE_EPOCH": "315532800", "PYTHONHASHSEED": "0"}


class _TerminatedError(BaseException):
    """SIGTERM arrived."""


def build_environment_in_pod() -> int:
    """Build the environment of this pod and return an exit code of `pod_exits`, or 1."""
    os.umask(0o022)
    try:
        signal.signal(signal.SIGTERM, _end)
        config = pod_config(os.environ)
        return _build(config, join(config))
    except _TerminatedError:
        return TERMINATED
    except (StoppedError, RevokedError) as stop:
        say(str(stop))
        return NO_LONGER_OURS
    except (ConfigError, RefusedError, ApiError, UnreachableError) as error:
        say(str(error))
        return REFUSED


def _end(*_: object) -> None:
    raise _TerminatedError


def _build(config: PodConfig, assignment: Assignment) -> int:
    api = Api(config.api_url, assignment.token)
    output = BuildOutput(lambda text: api.post("environments/log/", {"text": text}, 5.0))
    try:
        folder = Path(config.environment_dir)
        archive, facts = _make(assignment.job, config.work_dir, folder, output)
        size_bytes = archive.stat().st_size
        if size_bytes > LARGEST_ARCHIVE_BYTES:
            raise BuildError("The packed environment is larger than 5 GiB.")
        output.line(f"Sending {size_bytes >> 20} MiB")
        described = {"sha256": digest_of(archive), "archive_bytes": size_bytes}
        put(lambda: str(api.post("environments/upload/", described)["url"]), archive)
    except (BuildError, InputError, OSError) as error:
        output.line(str(error))
        api.post("environments/fail/", {"text": output.tail()})
        return _FAILED
    output.send()
    api.post("environments/finish/", {**described, **facts})
    return 0


def _make(
    job: Mapping[str, Any], work: Path, folder: Path, output: BuildOutput
) -> tuple[Path, dict[str, Any]]:
    """Return the packed environment and what is known of it. BuildError, InputError, OSError."""
    files = {name: _fetch(job[name], work) for name in ("pip", "wheel")}
    # Python keeps the compiled modules of a folder, and none of a zip's.
    shutil.unpack_archive(str(files["pip"]), str(work / "pip"), "zip")
    requirements = work / "requirements.txt"
    requirements.write_text(str(job["requirements"]), encoding="utf-8")
    version = platform.python_version()
    output.line(f"Making an environment of Python {version}")
    environment = {**os.environ, **_REPEATABLE, "HOME": str(work)}
    for name in ("ATOM_POD_TOKEN_FILE", "ATOM_PLACEMENT", "ATOM_API_URL"):
        environment.pop(name, None)

    def run(*command: object) -> None:
        run_command([str(part) for part in command], environment, work, output)

    # The packages of the image stay visible: its digest names the image too.
    run(
        *(sys.executable, "-I", "-m", "venv", "--without-pip", "--clear"),
        *("--system-site-packages", folder),
    )
    pip = [folder / "bin" / "python", work / "pip" / "pip", "install", *_PIP_OPTIONS]
    _install(run, [*pip, *job["pip_options"]], requirements, files["wheel"], job, folder)
    run(folder / "bin" / "python", "-c", _COMPILE, folder / "lib")
    output.line("Packing the environment")
    archive = work / "environment.tar.gz"
    size_bytes = pack(folder, archive)
    facts = {"python": version, "machine": platform.machine(), "size_bytes": size_bytes}
    return archive, facts


def _install(
    run: Callable[..., None],
    pip: list[object],
    requirements: Path,
    wheel: Path,
    job: Mapping[str, Any],
    folder: Path,
) -> None:
    if not job.get("has_hashes"):
        run(*pip, "-r", requirements, wheel)
        return
    # pip would ask for a hash of everything that it is given, even of Atom's own wheel. Pin the
    # installed packages: no hash vouches for another version of them.
    run(*pip, "-r", requirements)
    folders = folder.glob("lib/python3*/site-packages/*.dist-info")
    names = (_DIST_INFO.fullmatch(one.name) for one in folders)
    run(*pip, wheel, *sorted(f"{one[1]}=={one[2]}" for one in names if one))


def _fetch(file: Mapping[str, Any], work: Path) -> Path:
    """Return a verified file of the server's, under its own name."""
    target = work / Path(str(file["path"])).name
    download(file, target)
    verify(target, file, target.name)
    return target
