"""Two Numba compilers: one for kernels that Python calls, and one for inner functions.

With default options, Numba compiles every function to machine code, and optimises it again as a
part of each of its callers. For a function that Python never calls, only the code of the outermost
caller counts. Here such a function is translated to LLVM code only; its callers link this code and
optimise the whole.

Signals are deferred while Numba and LLVM work. Between their steps, `handle_waiting` runs the
signal handlers: an exception that is raised there does not leave inconsistent objects.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]  # it is not written in Python
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from glasshouse.stopping import handle_waiting


class _Definitions:
    """A view of an LLVM module that lists only the functions that have a body."""

    def __init__(self, module: Any) -> None:
        vars(self)["_module"] = module

    @property
    def functions(self) -> list[Any]:
        """All functions of the module that have a body."""
        return [function for function in self._module.functions if not function.is_declaration]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


class _KernelLibrary(JITCodeLibrary):
    """A kernel's code library, which handles pending signals between LLVM's steps."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # A declaration cannot be optimised, but would take a millisecond.
        handle_waiting()
        super()._optimize_functions(_Definitions(ll_module))  # type: ignore[no-untyped-call]

    def _optimize_final_module(self) -> None:
        handle_waiting()
        super()._optimize_final_module()  # type: ignore[no-untyped-call]
        handle_waiting()


class _LinkedLibrary(_KernelLibrary):
    """The code library of an inner function, which callers link and Python never executes."""

    def finalize(self) -> None:
        """Link the functions that this code calls, without generating machine code."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


def _new_library(kind: Any, state: Any) -> Any:
    """Return an empty library for the function that is being compiled."""
    return kind(state.targetctx.codegen(), state.func_id.func_qualname)


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """Numba's code generation step for kernels, with `_KernelLibrary` as the library."""

    _name = "glasshouse_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate a function to LLVM code, and compile it to machine code."""
        handle_waiting()
        state.library = _new_library(_KernelLibrary, state)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))  # type: ignore[no-untyped-call]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    """Numba's code generation step for inner functions, which also makes them callable."""

    _name = "glasshouse_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate a function to LLVM code that only compiled code can call."""
        handle_waiting()
        context, library = state.targetctx, _new_library(_LinkedLibrary, state)
        state.library, state.flags.no_compile = library, True
        super().run_pass(state)  # type: ignore[no-untyped-call]
        lowered = state.cr
        described = lowered.fndesc
        # Numba finds translated functions by the function object that Python would call. Here that
        # object has no address, and Python does not get it.
        key = _dynfunc.make_function(
            described.lookup_module(), described.qualname, "", 0, lowered.env, (library,)
        )
        context.insert_user_function(key, described, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = lowered._replace(cfunc=key)
        return True


class PlainCompiler(CompilerBase):
    """Numba's default compiler, except that subclasses may replace the code generation step."""

    lowering: Any = NativeLowering

    def define_pipelines(self) -> list[Any]:
        """Return Numba's compilation pipeline, with this class's code generation step."""
        handle_waiting()
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (self.lowering if step is NativeLowering else step, text) for step, text in steps.passes
        ]
        steps.finalize()
        return [steps]


class KernelCompiler(PlainCompiler):
    """The compiler for functions that Python calls."""

    lowering = _KernelLowering


class LinkedCompiler(PlainCompiler):
    """The compiler for functions that only compiled code calls."""

    lowering = _LinkedLowering
