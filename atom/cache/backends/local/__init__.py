"""The cache of this machine: a folder with packs and view indexes below ATOM_HOME."""
