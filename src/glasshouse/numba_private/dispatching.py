"""Numba functions that defer signals while they are compiled."""

from __future__ import annotations

from typing import Any

from numba.core.registry import CPUDispatcher

from glasshouse.stopping import compiling


class Kernel(CPUDispatcher):
    """A Numba function that defers signals while it is compiled."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and compile it first if the argument types are new.

        A signal handler may raise an exception while compiled code returns its result. Python then
        converts the exception to a SystemError, or to a chain of two.
        """
        try:
            return super().__call__(*args, **kwargs)
        except SystemError as error:
            raised: BaseException | None = error
            while isinstance(raised, SystemError):
                raised = raised.__cause__
            raise raised or error from None

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        with compiling():
            return super()._compile_for_args(*args, **kwargs)  # type: ignore[misc]  # no types

    def compile(self, sig: Any) -> Any:
        """Compile the function for one signature, or load it from its cache."""
        with compiling():
            return super().compile(sig)
