"""Command line of the runner: `supervise`, `run`, `pod` and `build-environment`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    options = _parse(arguments)
    if options.verb == "supervise":
        from .supervisor import supervise

        return supervise(options.attempt_dir.resolve(), detach=options.detach)
    if options.verb == "pod":
        from .pod import pod

        return pod()
    if options.verb == "build-environment":
        from .environment_build import build_environment_in_pod

        return build_environment_in_pod()
    from .session import drain, run

    pipes = [int(number) for number in options.pipes.split(",")] if options.pipes else []
    verb = drain if options.drain else run
    return verb(options.attempt_dir.resolve(), pipes)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="runner", description="Runs one attempt of a job.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    supervise = verbs.add_parser("supervise", help="start `run`, and `run --drain` if it dies")
    supervise.add_argument("attempt_dir", type=Path)
    supervise.add_argument("--detach", action="store_true", help="return once supervising")
    run = verbs.add_parser("run", help="start the command and report")
    run.add_argument("attempt_dir", type=Path)
    run.add_argument("--drain", action="store_true", help="send what is left and end")
    run.add_argument("--pipes", default="", help=argparse.SUPPRESS)
    verbs.add_parser("pod", help="join the attempt of this pod and run it")
    verbs.add_parser("build-environment", help="build the environment that this pod is for")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
