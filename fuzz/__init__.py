"""Coverage-guided fuzzing of everything that reads a stranger's file.

`python -m fuzz [TARGET ...]` (or `make fuzz`) lets atheris look for an input that breaks a promise
of SECURITY.md. `targets.py` is the table of targets; what each one promises is a plain function of
the input's bytes, so that `tests/test_corpus.py` replays `corpus/` without atheris.
"""
