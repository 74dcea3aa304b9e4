"""Runs of commands under limits, which leave no process or file behind.

command (what is run, and its limits) ← transcript (what it printed, and when) · processes (those of
a run), meters (what they use), keeper (the parent of each command), guardian (cleans up after
`kill -9`) ← runner (one run) ← compiling (a built-in solver, compiled before its clock starts)
"""
