"""S3 from SeaweedFS's wheel: identities, arguments, bucket and its CORS rule."""

import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atom.dev.ports import SocketLeftError, is_listening
from atom.dev.spec import ProcessSpec

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# Where SeaweedFS puts the sockets of its internal calls, whatever TMPDIR says.
SOCKETS = Path("/tmp")
# s3, master, volume, filer and admin, each with its gRPC port.
PORTS_USED = 10
REGION = "us-east-1"
# After one failed write the database of names takes no writes until it is opened again.
_CANNOT_WRITE = re.compile(
    "(insert|update) entry .*"
    "(read-only file system|no space left|quota exceeded|input/output error)"
)
_TRIED_BYTES = 65_536


@dataclass(frozen=True)
class Seaweed:
    """A SeaweedFS of our own; it listens on `port` (S3) and the nine ports after it."""

    data_dir: Path
    port: int
    access_key_id: str
    secret_access_key: str
    bucket: str = "atom"

    @property
    def url(self) -> str:
        """The S3_ENDPOINT_URL of this server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def _identities_path(self) -> Path:
        return self.data_dir / "identities.json"

    def spec(self) -> ProcessSpec:
        """Return how to run it."""
        base = self.port
        argv = (
            *(str(_binary()), "mini", f"-dir={self.data_dir}"),
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *(f"-s3.port={base}", f"-s3.port.grpc={base + 4}"),
            *(f"-master.port={base + 1}", f"-master.port.grpc={base + 5}"),
            *(f"-volume.port={base + 2}", f"-volume.port.grpc={base + 6}"),
            *(f"-filer.port={base + 3}", f"-filer.port.grpc={base + 7}"),
            # Its own interface is off, but it listens; at its default two stacks would meet.
            *(f"-admin.port={base + 8}", f"-admin.port.grpc={base + 9}"),
            f"-s3.config={self._identities_path}",
            # Not in /tmp, where another user's leftover of the same port cannot be replaced.
            # Relative to the working directory: such a path may have 107 characters only.
            *("-s3.localSocket=s3.sock", "-filer.localSocket=filer.sock"),
            "-s3.localFilerSocket=filer.sock",
            *("-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.autoCreateBucket=false"),
            # Chunks of 1 MiB, not 4: buffers that large cost an eighth of a PUT's time and 250 MB.
            "-filer.maxMB=1",
            *("-webdav=false", "-admin.ui=false", "-volume.preStopSeconds=0"),
            *("-master.telemetry=false", "-master.resumeState=false"),
        )
        return ProcessSpec(
            name="s3",
            argv=argv,
            cwd=self.data_dir,
            # Large uploads take 400 MB; near a limit the collector would take all of the time.
            env={"GOMEMLIMIT": "1GiB", "GOGC": "50"},
            prepare=self._write_identities,
            is_ready=self._is_ready,
            complaint=_CANNOT_WRITE,
            can_work=self._takes_writes,
        )

    def _write_identities(self) -> None:
        """Write the users of the store: one administrator with the generated key."""
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        identity = {
            "name": "atom",
            "credentials": [{"accessKey": self.access_key_id, "secretKey": self.secret_access_key}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        self._identities_path.touch(mode=0o600)
        self._identities_path.write_text(json.dumps({"identities": [identity]}), encoding="utf-8")

    def _is_ready(self) -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        # To make a client takes longer than to listen does.
        if not is_listening(self.port):
            return False
        try:
            ensure_bucket(self.client(), self.bucket)
        except (BotoCoreError, ClientError):
            return False
        return True

    def _takes_writes(self) -> bool:
        """Whether its disk does."""
        try:
            with tempfile.TemporaryFile(dir=self.data_dir) as file:
                file.write(bytes(_TRIED_BYTES))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            return False
        return True

    def client(self) -> "S3Client":
        """Return a client with short timeouts and no retries."""
        return make_client(self.url, self.access_key_id, self.secret_access_key)


def require_no_foreign_sockets(ports: range, user: int, folder: Path = SOCKETS) -> None:
    """Raise SocketLeftError for a socket of these ports that `user` could not replace."""
    for port in ports:
        for path in folder.glob(f"seaweedfs-*-grpc-{port}.sock"):
            if user not in {0, path.lstat().st_uid}:
                raise SocketLeftError(path, port, "ATOM_S3_PORT")


def make_client(url: str, access_key_id: str, secret_access_key: str) -> "S3Client":
    """Return an S3 client for an endpoint."""
    # Not above: commands that start nothing would wait half a second for it.
    import boto3
    from botocore.config import Config

    client: S3Client = boto3.client(
        "s3",
        endpoint_url=url,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=secret_access_key,
        region_name=REGION,
        config=Config(
            connect_timeout=2,
            read_timeout=10,
            retries={"max_attempts": 0},
            s3={"addressing_style": "path"},
        ),
    )
    return client


def ensure_bucket(client: "S3Client", bucket: str) -> None:
    """Create the bucket if needed and let browsers read and write presigned URLs of it."""
    existing = {entry.get("Name") for entry in client.list_buckets().get("Buckets", [])}
    if bucket not in existing:
        client.create_bucket(Bucket=bucket)
    client.put_bucket_cors(
        Bucket=bucket,
        CORSConfiguration={
            "CORSRules": [
                {
                    "AllowedOrigins": ["*"],
                    "AllowedMethods": ["GET", "PUT", "HEAD"],
                    "AllowedHeaders": ["*"],
                    "ExposeHeaders": ["ETag", "Content-Range", "Accept-Ranges"],
                    "MaxAgeSeconds": 3600,
                }
            ]
        },
    )


def _binary() -> Path:
    beside_python = Path(sys.executable).parent / "weed"
    found = shutil.which("weed")
    if beside_python.exists():
        return beside_python
    if found is None:
        raise FileNotFoundError("weed is not installed: run make install")
    return Path(found)
