"""Node agents: programs on the nodes of clusters that fetch packs as warm-up plans say."""
