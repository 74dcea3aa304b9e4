"""The relaxation of a tree's nodes, cycles and odd cliques: one LP that goes from node to node."""
