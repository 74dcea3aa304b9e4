"""Compiled code of the RBMs; whole ensembles are trained without Python code in between."""
