"""Compiled code of the RBMs: whole ensembles of them are trained without a step of Python."""
