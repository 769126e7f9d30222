"""`python -m atom.dev up|start|down|status|doctor`: the launcher's command line."""

import argparse
import os
import signal
import sys

from pydantic import ValidationError

from atom.dev import commands
from atom.dev.config import Installation
from atom.dev.doctor import doctor


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        installation = Installation.load()
    except ValidationError as error:
        for problem in error.errors():
            name = "_".join(str(part) for part in problem["loc"]).upper()
            print(f"{name}: {problem['msg']} (got {problem['input']!r})", file=sys.stderr)
        return 2
    if options.command == "status":
        return commands.status(installation, as_json=options.json)
    if options.command == "doctor":
        return doctor(installation, as_json=options.json)
    if options.command == "up":
        return commands.up(installation, is_in_background=options.background)
    return {"start": commands.start, "down": commands.down}[options.command](installation)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m atom.dev", description=__doc__)
    subparsers = parser.add_subparsers(dest="command", required=True)
    up = subparsers.add_parser("up", help="run the stack in the foreground")
    # Of `start` alone.
    up.add_argument("--background", action="store_true", help=argparse.SUPPRESS)
    subparsers.add_parser("start", help="run the stack in the background, return when it is ready")
    subparsers.add_parser("down", help="stop the stack")
    status = subparsers.add_parser("status", help="show what runs")
    status.add_argument("--json", action="store_true", help="for programs")
    look = subparsers.add_parser("doctor", help="say what is wrong on this machine and what to do")
    look.add_argument("--json", action="store_true", help="for programs")
    return parser


def run() -> int:
    """Run a command; end quietly when the reader of its output is gone, as with `| head`."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


if __name__ == "__main__":
    sys.exit(run())
