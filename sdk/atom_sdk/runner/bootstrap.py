"""Brings the runner into a pod: given to `python3 -c` in its init container. Python 3.8 or newer.

It stands alone: nothing of Atom is in the image.
"""

import hashlib
import os
import random
import sys
import time
import urllib.request


def main() -> int:
    """Download the runner, verify it and put it where the pod's main container looks for it."""
    url, digest = os.environ["ATOM_RUNNER_URL"], os.environ["ATOM_RUNNER_SHA256"]
    target = os.path.join(os.environ["ATOM_LAYER_DIR"], "runner.pyz")
    ends_at = time.monotonic() + float(os.environ.get("ATOM_BOOTSTRAP_S", "120"))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    why = ""
    while time.monotonic() < ends_at:
        try:
            with opener.open(url, timeout=30) as answer:
                content = answer.read()
            if hashlib.sha256(content).hexdigest() == digest:
                with open(target + ".part", "wb") as file:
                    file.write(content)
                os.chmod(target + ".part", 0o555)
                os.replace(target + ".part", target)
                return 0
            why = "its bytes are not those that were asked for"
        except OSError as error:
            why = str(error)
        print(f"[atom] {url} does not answer with the runner: {why}", file=sys.stderr, flush=True)
        time.sleep(random.uniform(0.5, 3.0))
    print("[atom] Give ATOM_POD_API_URL an address that pods reach.", file=sys.stderr, flush=True)
    return 1


sys.exit(main())
