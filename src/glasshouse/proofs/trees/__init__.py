"""Search trees: branching, bounding by relaxations, certificates of what was found."""
