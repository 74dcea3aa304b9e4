"""Races: other people's solvers on proven instances."""
