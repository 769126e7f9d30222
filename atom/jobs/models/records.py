"""Records of running attempts: logs and curves, in chunks."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.core.models import TimestampedModel


class LogStream(TimestampedModel):
    """The log of a rank, one byte sequence. `flushed_bytes` are in chunks, the rest in Valkey."""

    attempt = models.ForeignKey(
        "jobs.Attempt", on_delete=models.CASCADE, related_name="log_streams"
    )
    name = models.CharField(max_length=60, default="main")
    flushed_bytes = models.BigIntegerField(default=0)
    flushed_lines = models.BigIntegerField(default=0)
    eof_bytes = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "name"], name="log_stream_name"),
        ]

    @staticmethod
    def name_of(rank: int) -> str:
        """Return the name of a rank's log."""
        return f"rank-{rank}" if rank else "main"

    @property
    def rank(self) -> int:
        """Return the number of its rank."""
        return 0 if self.name == "main" else int(self.name.removeprefix("rank-"))


class LogChunk(models.Model):
    """A compressed object of log frames."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(LogStream, on_delete=models.CASCADE, related_name="chunks")
    seq = models.PositiveIntegerField()
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    line_start = models.BigIntegerField()
    line_end = models.BigIntegerField()
    first_ts_ns = models.BigIntegerField()
    key = models.CharField(max_length=300)
    compressed_bytes = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["stream", "seq"], name="log_chunk_seq"),
            models.UniqueConstraint(fields=["stream", "byte_start"], name="log_chunk_start"),
        ]


class MetricSeries(TimestampedModel):
    """One curve of an attempt."""

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="series")
    attempt = models.ForeignKey("jobs.Attempt", on_delete=models.CASCADE, related_name="series")
    key = models.CharField(max_length=250)
    kind = models.CharField(max_length=10, choices=[("user", "user"), ("system", "system")])
    n = models.BigIntegerField(default=0)
    step_min = models.BigIntegerField(null=True)
    step_max = models.BigIntegerField(null=True)
    vmin = models.FloatField(null=True)
    vmax = models.FloatField(null=True)
    last = models.FloatField(null=True)
    last_step = models.BigIntegerField(null=True)
    last_ts_ms = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "key"], name="series_key"),
        ]


class MetricChunk(models.Model):
    """Up to 4,096 points of a series: zstd of step int64, ts int64 and value float64 columns."""

    id = models.BigAutoField(primary_key=True)
    series = models.ForeignKey(MetricSeries, on_delete=models.CASCADE, related_name="chunks")
    seq = models.PositiveIntegerField()
    n = models.PositiveIntegerField()
    step_min = models.BigIntegerField()
    step_max = models.BigIntegerField()
    vmin = models.FloatField(null=True)
    vmax = models.FloatField(null=True)
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["series", "seq"], name="metric_chunk_seq"),
        ]
