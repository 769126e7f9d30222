"""Writing files to a dataset from a program: a staging branch now, a version at the end."""

from atom_sdk.client.writing.job import TaskWriter, WriteJob
from atom_sdk.client.writing.writer import DatasetWriter, WriterOptions

__all__ = ["DatasetWriter", "TaskWriter", "WriteJob", "WriterOptions"]
