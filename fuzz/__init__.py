"""Coverage-guided fuzzing of all readers of untrusted files.

`python -m fuzz [TARGET ...]` (or `make fuzz`) searches with atheris for inputs that break a promise
of SECURITY.md. `targets.py` is the table of targets. Each target is a function of the input's
bytes, so `tests/test_corpus.py` can replay `corpus/` without atheris.
"""
