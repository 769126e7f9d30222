"""The log of pip for a failed build, cut down to helpful lines."""

from atom.jobs.runtimes.engines.build_log import excerpt

LOG = """\
Looking in indexes: http://mirror/simple
WARNING: Location 'file:///more/' is ignored: it is neither a file nor a directory.
Collecting nothing==1
  WARNING: Retrying (Retry(total=0)) after connection broken
  error: subprocess-exited-with-error
ERROR: Could not find a version that satisfies the requirement nothing==1 (from versions: none)
ERROR: No matching distribution found for nothing==1
WARNING: You are using an old pip
[notice] A new release of pip is available
"""


def test_errors_come_first_and_warnings_not_at_all() -> None:
    assert excerpt(LOG).splitlines() == [
        "  error: subprocess-exited-with-error",
        "ERROR: Could not find a version that satisfies the requirement nothing==1 "
        "(from versions: none)",
        "ERROR: No matching distribution found for nothing==1",
        "Looking in indexes: http://mirror/simple",
        "Collecting nothing==1",
    ]


def test_a_long_log_keeps_its_last_errors() -> None:
    many = "\n".join([*(f"ERROR: {n}" for n in range(20)), *(f"line {n}" for n in range(20))])
    assert excerpt(many, lines=3).splitlines() == ["ERROR: 17", "ERROR: 18", "ERROR: 19"]
    assert excerpt("no error\nat all", lines=1) == "at all"
