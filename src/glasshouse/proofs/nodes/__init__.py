"""The cycle relaxation of a tree's nodes: one linear program that goes from node to node."""
