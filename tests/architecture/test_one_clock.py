"""Times that other machines read come from the database (`atom.core.clock`)."""

import re

from atom.settings.environment import BASE_DIR

OWN_CLOCK = re.compile(
    r"timezone\.now\(|datetime\.(?:utc)?now\(|time\.time(?:_ns)?\(|models\.DateTimeField\(auto_now"
)
# Where a machine's own clock does, and why.
ALLOWED = {
    "accounts/sessions.py": "asks whether to note a use, in steps of a minute",
    "accounts/authentication.py": "asks whether to note a use, in steps of a minute",
    "cache/delivery/engines/stream_handover.py": "a file and this machine's start, by one clock",
    "core/health.py": "compares it with the database's",
    "core/ids.py": "ids are unique at any time; their order is for display",
    "core/media.py": "links live for one to two days",
    "gateway/links.py": "links live for one to two days",
    "gateway/s3/server.py": "a client's signature may be 15 minutes off; the answer says so",
    "datasets/sources/pipelines/google_keys.py": "Google compares it with its own",
    "jobs/runtimes/actions/cluster_images.py": "files of one machine, whose times it wrote itself",
    "dev/output.py": "the times of lines on one machine",
}


def test_no_machine_tells_others_the_time_by_its_own_clock() -> None:
    asking = {
        str(path.relative_to(BASE_DIR / "atom"))
        for path in (BASE_DIR / "atom").rglob("*.py")
        if "migrations" not in path.parts and OWN_CLOCK.search(path.read_text(encoding="utf-8"))
    }
    assert asking == set(ALLOWED), "use clock.now(), Now() or RowTimeField, or say why not"
