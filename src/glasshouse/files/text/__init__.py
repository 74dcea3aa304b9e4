"""Untrusted text and bytes: the basis of every reader and writer of files."""
