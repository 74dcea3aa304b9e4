"""The cycle relaxation of a whole graph: linear programs, block by block."""
