"""Three-way merges of two roots and their layers, with conflicts and their resolution."""
