"""Pull, open and mount: a version's files on this machine."""
