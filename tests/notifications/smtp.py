"""A mail server that keeps what it takes, or takes nothing."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class MailServer:
    """The mails that came; `refuses` makes it refuse every mail."""

    port: int = 0
    refuses: bool = False
    mails: list[EmailMessage] = field(default_factory=list)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, found: MailServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.found = found


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.say("220 mail")
        while line := self.rfile.readline():
            word = line.split()[0].upper() if line.split() else b""
            if word == b"DATA":
                self.say("354 go on")
                self.take()
            elif word == b"QUIT":
                self.say("221 bye")
                return
            else:
                refused = word == b"RCPT" and self.server.found.refuses
                self.say("450 not now" if refused else "250 mail")

    def take(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        made = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(made, EmailMessage)
        self.server.found.mails.append(made)
        self.say("250 taken")

    def say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Serve SMTP on a free port of this machine."""
    found = MailServer()
    server = _Server(found)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
