"""The program `atom-agent`: runs until SIGTERM or SIGINT."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading

from atom_agent.agent import Agent
from atom_agent.errors import AgentError
from atom_agent.settings import settings_of

_USAGE = "usage: atom-agent run"


def main() -> None:
    """Run an agent with the settings of the environment."""
    if sys.argv[1:] != ["run"]:
        sys.exit(_USAGE)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # A line for each request would hide what matters.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        agent = Agent(settings_of(os.environ))
    except (AgentError, OSError) as error:
        sys.exit(f"atom-agent: {error}")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        agent.start()
    except (AgentError, OSError) as error:
        sys.exit(f"atom-agent: {error}")
    ended.wait()
    agent.stop()


if __name__ == "__main__":
    main()
