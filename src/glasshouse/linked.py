"""Functions that only compiled code calls: Numba translates them, and leaves the rest to callers.

As it comes, Numba optimises every function up to machine code, then once more as a part of each
function that calls it, and so on up to the one that Python calls. Of a function that Python never
calls, only the last time counts. Here it is translated to LLVM's language and left at that; whoever
calls it takes it over and optimises the whole.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]  # it is not written in Python
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _LinkedLibrary(JITCodeLibrary):
    """Code that others take over, which is never made ready to run."""

    def finalize(self) -> None:
        """Take over what this code calls, and nothing more."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    """Translates a function, and tells Numba under which name its callers find it."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """As Numba's own, but for the library, and without an address."""
        context = state.targetctx
        new_library: Any = _LinkedLibrary  # Numba's own classes have no types
        library = new_library(context.codegen(), state.func_id.func_qualname)
        state.library, state.flags.no_compile = library, True
        super().run_pass(state)  # type: ignore[no-untyped-call]
        lowered = state.cr
        described = lowered.fndesc
        # Numba finds translated functions by the function that Python would call: here it has no
        # address, and Python does not get it.
        key = _dynfunc.make_function(
            described.lookup_module(), described.qualname, "", 0, lowered.env, (library,)
        )
        context.insert_user_function(key, described, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = lowered._replace(cfunc=key)
        return True


class LinkedCompiler(CompilerBase):
    """Numba's steps for compiled functions, up to the last."""

    def define_pipelines(self) -> list[Any]:
        """All steps in a row."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (_LinkedLowering if step is NativeLowering else step, text)
            for step, text in steps.passes
        ]
        steps.finalize()
        return [steps]
