"""Writes a dataset in the formats of others: see README.md."""

from atom_sdk.export.shards import FORMATS, ExportResult, export_dataset

__all__ = ["FORMATS", "ExportResult", "export_dataset"]
