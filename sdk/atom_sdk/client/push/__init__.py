"""Push and import: files of a folder or an archive become a version."""
