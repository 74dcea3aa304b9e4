"""Verdicts on solvers' runs; no statement of a solver is trusted.

answer (the lines that a solver printed), answer_files (answers in separate files) ← clauses
(the verdict over a file of clauses) ← states (the verdict over a state of any problem)
"""
