"""The stand-in as its own process: `python -m tests.fakes.kubernetes --port 6443`.

It writes a kubeconfig for its administrator to standard output.
"""

from __future__ import annotations

import argparse

from .cluster import DEFINITIONS, Cluster


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--nodes", type=int, default=0, help="nodes with eight GPUs each")
    options = parser.parse_args()
    definitions = DEFINITIONS.exists()
    with Cluster(port=options.port, tls=options.tls, definitions=definitions) as cluster:
        for number in range(options.nodes):
            cluster.nodes.add(f"n{number + 1}", {"nvidia.com/gpu": "8"})
        print(cluster.kubeconfig(), flush=True)
        cluster.server.wait()


if __name__ == "__main__":
    main()
