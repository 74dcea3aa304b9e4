"""Benchmarks against other packages, stored with date, computer and versions."""
