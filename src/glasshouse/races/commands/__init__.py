"""Races of solver commands: every solver runs on every instance of a suite.

builtin (our own solvers as commands), probing (the dialect that a solver reads) ← entrants ←
race_task (one solver on one instance) ← racing (the race, into a store) ← results ← scores,
time_series (incumbents over time, as files)
"""
