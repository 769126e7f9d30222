"""The stand-in as its own process: `python -m tests.fakes.kubernetes --port 6443`.

It writes a kubeconfig for its administrator to standard output.
"""

from __future__ import annotations

import argparse
import signal
import sys

from .cluster import DEFINITIONS, Cluster


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--nodes", type=int, default=0, help="nodes with eight GPUs each")
    parser.add_argument("--kubelet", action="store_true", help="schedule and run pods for real")
    options = parser.parse_args()
    # An end by the signal leaves no pod behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Cluster(
        port=options.port,
        tls=options.tls,
        definitions=DEFINITIONS.exists(),
        kubelet=options.kubelet,
    ) as cluster:
        for number in range(options.nodes):
            cluster.nodes.add(f"n{number + 1}", {"nvidia.com/gpu": "8"})
        print(cluster.kubeconfig(), flush=True)
        cluster.server.wait()


if __name__ == "__main__":
    main()
