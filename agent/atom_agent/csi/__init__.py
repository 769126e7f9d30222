"""The CSI node driver: pods of runs get versions of the node's cache as read-only volumes."""
