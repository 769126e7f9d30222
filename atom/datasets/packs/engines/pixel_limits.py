"""How large a picture may be, in pixels. Processes without Pillow read these limits too."""

from __future__ import annotations

from typing import Final

# Up to here pictures are labelled, by tiles that libvips makes of them row by row.
MAX_OPENED: Final = 250_000_000
# Pillow holds a decoded picture in memory, with three or four bytes a pixel.
MAX_DECODED: Final = 100_000_000
