"""Names of the ways to mount, best first; apart, so that `atom --help` need not load them all."""

EROFS, LOOP, HARD_LINKS, FUSE = "erofs", "loop", "hardlinks", "fuse"
WAYS = (EROFS, LOOP, HARD_LINKS, FUSE)
