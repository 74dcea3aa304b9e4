"""Numba compiles faster, and comes to the same code."""

from __future__ import annotations

import gc

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba.core import types
from numba.core.errors import TypingError

from glasshouse import quicker_numba


def test_a_kind_of_call_is_found_out_once():
    seen = []

    def find(function, context, args, kws):
        seen.append(args)
        return len(seen)

    call = quicker_numba._remembering(find)
    plain = types.int64, types.Array(types.int32, 1, "C")
    assert [call("add", "here", plain, {}), call("add", "here", plain, {})] == [1, 1]
    assert call("multiply", "here", plain, {}) == 2
    assert call("add", "elsewhere", plain, {}) == 3
    assert call("add", "here", plain[:1], {}) == 4
    others = [(types.unicode_type,), (types.int64, types.none), (types.Tuple((types.none,)),)]
    for args in others:  # what these mean may change
        assert call("add", "here", args, {}) != call("add", "here", args, {})
    assert call("add", "here", plain, {"out": types.int64}) == 11


def test_a_call_that_is_not_known_is_not_remembered():
    @numba.njit
    def indexed(values):
        return values[0.5]

    for _ in range(2):
        with pytest.raises(TypingError):
            indexed(np.zeros(3))


def test_literals_keep_their_meaning():
    @numba.njit
    def powers(x):
        return x**2, x**3, x << 1, x << 2, (1, 2.5)[1]

    assert powers(3) == (9, 27, 6, 12, 2.5)


def test_functions_without_a_body_are_left_out():
    module = binding.parse_assembly(
        "declare i64 @far(i64)\ndefine i64 @near(i64 %x) {\n  ret i64 %x\n}\n"
    )
    seen = []

    def optimize(library, module):
        module.data_layout = "e"
        seen.extend(function.name for function in module.functions)

    quicker_numba._leaving_out_declarations(optimize)(None, module)
    assert seen == ["near"]
    assert module.data_layout == "e"


def test_garbage_is_collected_again_after_a_compilation():
    @numba.njit
    def fails(x):
        return x.nothing

    with pytest.raises(TypingError):
        fails(1)
    assert gc.isenabled()
