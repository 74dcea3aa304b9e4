"""Fuzzing: small instances with proven optima that catch a solver's wrong answers.

dice (choices from a seed) · question (clauses with their least cost) ← specimen (a planted one),
deciding (the least cost, by loops or by all assignments) ← mutations, drawing (one question from a
seed) · trial (a solver is asked) ← shrinking (the smallest failing instance) ← hunting
(many questions; each kind of fault once, written with a report)
"""
