"""Labels in the formats of other tools, both ways: see docs/label-formats.md."""
