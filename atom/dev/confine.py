"""Steps of a child between fork and exec: tie its life to ours, and stop being root."""

import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x1000_0000
INSIDE_ID = 1000

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(sig: signal.Signals) -> None:
    """Ask the kernel to send `sig` to this process when its parent dies, however it dies."""
    _libc.prctl(PR_SET_PDEATHSIG, int(sig), 0, 0, 0)


def enter_user_namespace() -> None:
    """Become an ordinary user in a namespace of our own whose files root owns outside.

    PostgreSQL refuses to run as root; in the namespace it sees another uid, while its files stay
    ours. Raises OSError where the kernel or a container's policy forbids it.
    """
    if _libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are not allowed here")
    # The kernel wants setgroups denied before an unprivileged gid_map.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{INSIDE_ID} 0 1"),
        ("gid_map", f"{INSIDE_ID} 0 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def before_exec(sig: signal.Signals, *, as_namespaced_user: bool) -> Callable[[], None]:
    """Return the function to run in the child before exec."""
    namespaced = as_namespaced_user and os.geteuid() == 0

    def confine() -> None:
        if namespaced:
            enter_user_namespace()
        # After the namespace: changing credentials clears the parent-death signal.
        die_with_parent(sig)

    return confine
