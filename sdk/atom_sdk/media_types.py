"""The media type of a file, by its name."""

import mimetypes

_TYPES = mimetypes.MimeTypes()
for _extension, _type in {
    ".avif": "image/avif",
    ".webp": "image/webp",
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".npy": "application/x-npy",
    ".npz": "application/x-npz",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}.items():
    _TYPES.add_type(_type, _extension)


def media_type_of(path: str) -> str:
    """Return the media type, `application/octet-stream` where the name shows none."""
    found, encoding = _TYPES.guess_type(path, strict=False)
    return found if found and not encoding else "application/octet-stream"
