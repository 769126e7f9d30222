"""Pure rules of registration: rights, nodes, accelerators."""
