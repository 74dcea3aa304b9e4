"""How a command says no."""


class CheckFailedError(Exception):
    """The answer is no: a check that was asked for failed. Ends with exit code 1."""
