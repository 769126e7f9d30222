"""Tries addresses from inside a pod, and reads what RDMA needs there.

Its text is given to `python3 -c`.
"""

import json
import os
import resource
import urllib.error
import urllib.request

TIMEOUT_S = float(os.environ.get("ATOM_REACH_S") or 10)


def reach(url: str) -> "dict[str, object]":
    """Return how an address answered: its status and its beginning, or the error."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
            start = response.read(200).decode("utf-8", "replace")
            return {"status": response.status, "start": start}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "start": ""}
    except Exception as error:
        return {"error": (str(error) or type(error).__name__)[:300]}


def rdma() -> "dict[str, object]":
    """Return the memlock limit in bytes (-1: unlimited) and the number of RDMA devices."""
    try:
        names = os.listdir("/dev/infiniband")
    except OSError:
        names = []
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return {"memlock_bytes": limit, "devices": sum(name.startswith("uverbs") for name in names)}


report = {name: reach(url) for name, url in json.loads(os.environ["ATOM_ADDRESSES"]).items()}
report["rdma"] = rdma()
text = json.dumps(report)
# The log has it too, for clusters that keep no termination message.
print(text, flush=True)
with open(os.environ.get("ATOM_MESSAGE_FILE", "/dev/termination-log"), "w") as file:
    file.write(text)
