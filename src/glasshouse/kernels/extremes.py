"""The minimum and the maximum of two numbers, for compiled code.

Numba compiles its own `min` and `max` again for every pair of types. The functions of this module
are two inline instructions each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

# Untyped on purpose: kernels call these functions without their first argument.
word: Any = intrinsic


def _of_two(comparison: str) -> Callable[..., Any]:
    """Return an intrinsic that returns the smaller ("<") or the larger (">") of two numbers."""

    def typed(typing: Any, first: Any, second: Any) -> Any:
        given = types.unliteral(first), types.unliteral(second)
        kind: Any = typing.unify_types(*given)
        is_float = isinstance(kind, types.Float)
        if not is_float and kind not in types.integer_domain:
            raise TypingError(f"{first} and {second} must both be integers, or both be floats")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            one, two = (
                context.cast(builder, value, own, kind)
                for value, own in zip(values, given, strict=True)
            )
            if is_float:
                compare = builder.fcmp_ordered
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
            return builder.select(compare(comparison, two, one), two, one)

        return kind(*given), generate

    return typed


lower = word(_of_two("<"))
higher = word(_of_two(">"))
