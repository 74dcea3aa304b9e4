"""Compiled code that trains, samples and enumerates RBMs."""
