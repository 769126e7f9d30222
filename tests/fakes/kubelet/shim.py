"""Runs one container: `python -I shim.py SPEC`. It stands alone, since it runs outside the package.

The shim stays outside and its child becomes the container: in namespaces of its own as pid 1, or
else as a plain process in folders. Standard input brings the numbers of signals, one a byte; its
end is the end of the kubelet, and so of the container. Standard output gives lines of JSON: `pid`
or `error` once, then `exit`. Standard error is the container's output.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_NEW_MOUNTS, _NEW_HOSTNAME, _NEW_PIDS = 0x00020000, 0x04000000, 0x20000000
_READ_ONLY, _NO_SETUID, _REMOUNT = 0x1, 0x2, 0x20
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_DETACH = 2
_SUBREAPER, _NO_NEW_PRIVILEGES = 36, 38
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)


class StartError(Exception):
    """The container cannot start; the words are those of the runtime."""


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library; raise OSError when it fails."""
    if getattr(libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount; raise OSError when it fails."""
    texts = [text.encode() for text in (source, target, kind)]
    call("mount", *texts, ctypes.c_ulong(flags), options.encode())


# --- the file system of a container ---


def build_root(spec: Json) -> None:
    """Make the container's file system and change to it."""
    root = Path(spec["root"])
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    mount("tmpfs", str(root), "tmpfs", options="mode=755,size=64m")
    for folder in ("proc", "sys", "dev", "run", "tmp", "var/tmp", "root"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("tmp", "var/tmp"):
        (root / folder).chmod(0o1777)
    (root / "var/run").symlink_to("/run")
    _add_image(root, spec["image"])
    _add_system(root)
    for item in sorted(spec["mounts"], key=lambda item: len(Path(item["target"]).parts)):
        _add_mount(root, item)
    _point(root, spec["cwd"], is_folder=True)
    os.chdir(root)
    call("pivot_root", b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir("/")
    if spec["read_only"]:
        mount("none", "/", "", _REMOUNT | _BIND | _READ_ONLY)


def _add_image(root: Path, paths: list[Any]) -> None:
    """Show parts of this machine, read-only, as an image's layers: `path` or `[path, target]`."""
    for shown in paths:
        path, place = (shown, shown) if isinstance(shown, str) else shown
        target = Path(f"{root}{place}")
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.islink(path):
            target.symlink_to(os.readlink(path))
            continue
        target.mkdir(exist_ok=True)
        _bind(path, str(target), read_only=True)


def _add_system(root: Path) -> None:
    mount("proc", f"{root}/proc", "proc")
    _bind("/sys", f"{root}/sys", read_only=True)
    mount("tmpfs", f"{root}/dev", "tmpfs", options="mode=755,size=1m")
    for name in _DEVICES:
        (root / "dev" / name).touch()
        _bind(f"/dev/{name}", f"{root}/dev/{name}", read_only=False)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (root / "dev" / name).symlink_to(f"/proc/self/fd{target}")
    (root / "dev/shm").mkdir()
    mount("tmpfs", f"{root}/dev/shm", "tmpfs", options="mode=1777,size=64m")


def _add_mount(root: Path, item: Json) -> None:
    source = item.get("source")
    target = _point(root, item["target"], is_folder=source is None or os.path.isdir(source))
    if source is None:
        mount("tmpfs", target, "tmpfs", options=item["options"])
        return
    _bind(source, target, read_only=item["read_only"])


def _bind(source: str, target: str, *, read_only: bool) -> None:
    mount(source, target, "", _BIND | _RECURSIVE)
    if read_only:
        mount("none", target, "", _REMOUNT | _BIND | _READ_ONLY)


def _point(root: Path, path: str, *, is_folder: bool) -> str:
    """Return where to mount; a folder of this machine is never changed for it."""
    target = Path(os.path.realpath(f"{root}{path}"))
    if path.startswith("/var/run/"):
        target = root / "run" / path.removeprefix("/var/run/")
    if target.exists():
        return str(target)
    parent = next(folder for folder in target.parents if folder.exists())
    inner = {os.stat(root).st_dev, os.stat(root / "dev").st_dev}
    if os.stat(parent).st_dev not in inner:
        raise StartError(f"the image has no {path}, and its layers are read-only here")
    if is_folder:
        target.mkdir(parents=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    return str(target)


# --- the container ---


def become(spec: Json) -> None:
    """Turn this process into the container's first one."""
    if (limit := spec.get("memlock_bytes")) is not None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    if spec["isolated"]:
        call("unshare", _NEW_MOUNTS | _NEW_HOSTNAME)
        build_root(spec)
        name = spec["hostname"].encode()
        call("sethostname", name, len(name))
        os.setgroups(spec["groups"])
        os.setresgid(*[spec["gid"]] * 3)
        os.setresuid(*[spec["uid"]] * 3)
        if spec["no_new_privileges"]:
            call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    else:
        os.setsid()
        Path(spec["cwd"]).mkdir(parents=True, exist_ok=True)
    os.chdir(spec["cwd"])
    environment: dict[str, str] = spec["env"]
    program = _program(spec["argv"][0], environment.get("PATH", ""))
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(2, 1)
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_DFL)
    os.umask(0o022)
    try:
        os.execve(program, spec["argv"], environment)
    except OSError as error:
        raise StartError(f'exec: "{spec["argv"][0]}": {error.strerror}'.lower()) from error


def _program(name: str, path: str) -> str:
    """Return the program's path; raise StartError with the runtime's words."""
    if "/" in name:
        if not os.path.exists(name):
            raise StartError(f'exec: "{name}": stat {name}: no such file or directory')
        return name
    for folder in path.split(":"):
        if os.access(candidate := os.path.join(folder, name), os.X_OK):
            return candidate
    raise StartError(f'exec: "{name}": executable file not found in $PATH')


def start(spec: Json) -> int:
    """Start the container and return its process id, or -1 after the line of its error."""
    if spec["isolated"]:
        call("unshare", _NEW_PIDS)
    else:
        # Processes that leave their group come back here when their parent ends.
        call("prctl", _SUBREAPER, 1, 0, 0, 0)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(spec)
        except (StartError, OSError) as error:
            os.write(writing, str(error).encode())
        os._exit(128)
    os.close(writing)
    words = os.read(reading, 65536).decode()
    if words:
        os.waitpid(pid, 0)
        say({"error": words})
        return -1
    say({"pid": pid})
    return pid


def say(line: Json) -> None:
    """Tell the kubelet."""
    os.write(1, json.dumps(line).encode() + b"\n")


def descendants() -> list[int]:
    """Return the processes below this one, the nearest first."""
    pids, left = [], [os.getpid()]
    while left:
        pid = left.pop()
        try:
            text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except OSError:
            continue
        children = [int(word) for word in text.split()]
        pids += children
        left += children
    return pids


def end_all() -> None:
    """Kill what the container left, until nothing is left."""
    while pids := descendants():
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def pass_signals(pid: int) -> int:
    """Pass signals on until the container ends; return its exit code."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(0, select.POLLIN | select.POLLHUP)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if handle in ready:
            _, status = os.waitpid(pid, 0)
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        # No byte: the kubelet is gone.
        for number in os.read(0, 64) or bytes([signal.SIGKILL]):
            signal.pidfd_send_signal(handle, number)
            if number == signal.SIGKILL:
                end_all_but(pid)


def end_all_but(pid: int) -> None:
    """Kill the other processes of a container whose first one was killed."""
    for other in descendants():
        if other != pid:
            try:
                os.kill(other, signal.SIGKILL)
            except ProcessLookupError:
                continue


def main() -> None:
    """Run the container of the specification."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    spec = json.loads(Path(sys.argv[1]).read_text())
    pid = start(spec)
    if pid < 0:
        return
    code = pass_signals(pid)
    end_all()
    say({"exit": code})


if __name__ == "__main__":
    main()
