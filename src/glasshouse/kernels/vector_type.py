"""The Numba type of a vector, with operators that are single LLVM instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import lower_builtin, models, register_model, type_callable

# The types of lanes, and their widths in bits.
BITS = {
    types.uint8: 8, types.int16: 16, types.int32: 32, types.uint32: 32,
    types.int64: 64, types.uint64: 64, types.float32: 32, types.float64: 64,
}  # fmt: skip


class Vector(types.Type):
    """The Numba type of a vector: `lanes` values of the scalar type `dtype`."""

    def __init__(self, dtype: Any, lanes: int) -> None:
        if dtype not in BITS:
            raise TypingError(f"vectors of {dtype} are not supported; use a type in BITS")
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}x{lanes})")

    @property
    def is_float(self) -> bool:
        """Whether the lanes are floating-point numbers."""
        return self.dtype in (types.float32, types.float64)

    @property
    def bits(self) -> int:
        """The width of a lane in bits."""
        return BITS[self.dtype]

    @property
    def llvm(self) -> ir.VectorType:
        """The LLVM type of the vector."""
        if self.is_float:
            scalar = ir.FloatType() if self.dtype == types.float32 else ir.DoubleType()
        else:
            scalar = ir.IntType(self.bits)
        return ir.VectorType(scalar, self.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, kind.llvm)  # type: ignore[no-untyped-call]


def broadcast(builder: Any, scalar: Any, kind: Vector) -> Any:
    """Return the LLVM instructions that copy a scalar to every lane of a vector."""
    empty = ir.Constant(kind.llvm, ir.Undefined)
    single = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), kind.lanes), [0] * kind.lanes)
    return builder.shuffle_vector(single, empty, everywhere)


def _same(left: Any, right: Any) -> Any:
    return left if isinstance(left, Vector) and left == right else None


def _binary(symbol: Any, whole: str | None, floating: str | None) -> None:
    """Register an operator on two vectors of the same type, as a single LLVM instruction."""

    @type_callable(symbol)
    def _(context: Any) -> Callable[..., Any]:
        return _same

    @lower_builtin(symbol, Vector, Vector)
    def _(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        name = floating if signature.args[0].is_float else whole
        if name is None:
            raise TypingError(f"{symbol.__name__} needs integers, not {signature.args[0]}")
        return getattr(builder, name)(*values)


_binary(operator.add, "add", "fadd")
_binary(operator.sub, "sub", "fsub")
_binary(operator.mul, "mul", "fmul")
_binary(operator.and_, "and_", None)
_binary(operator.or_, "or_", None)
_binary(operator.xor, "xor", None)


@type_callable(operator.invert)
def _type_invert(context: Any) -> Callable[..., Any]:
    return lambda value: value if isinstance(value, Vector) and not value.is_float else None


@lower_builtin(operator.invert, Vector)
def _invert(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.not_(values[0])


def _shift(symbol: Any, instruction: str) -> None:
    @type_callable(symbol)
    def _(context: Any) -> Callable[..., Any]:
        def typer(value: Any, amount: Any) -> Any:
            whole = isinstance(value, Vector) and not value.is_float
            return value if whole and isinstance(amount, types.Integer) else None

        return typer

    @lower_builtin(symbol, Vector, types.Integer)
    def _(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind, amount = signature.args
        scalar = context.cast(builder, values[1], amount, types.uint64)
        lane = ir.IntType(kind.bits)
        if kind.bits < 64:
            scalar = builder.trunc(scalar, lane)
        return getattr(builder, instruction)(values[0], broadcast(builder, scalar, kind))


_shift(operator.lshift, "shl")
_shift(operator.rshift, "lshr")


def mask_of(kind: Vector) -> Vector:
    """Return the type of the mask that results from a comparison of two vectors."""
    unsigned = {8: types.uint8, 16: types.int16, 32: types.uint32, 64: types.uint64}
    return Vector(unsigned[kind.bits], kind.lanes)


def _comparison(symbol: Any, sign: str) -> None:
    @type_callable(symbol)
    def _(context: Any) -> Callable[..., Any]:
        return lambda left, right: mask_of(left) if _same(left, right) else None

    @lower_builtin(symbol, Vector, Vector)
    def _(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        if kind.is_float:
            outcome = builder.fcmp_ordered(sign, *values)
        elif kind.dtype.signed:
            outcome = builder.icmp_signed(sign, *values)
        else:
            outcome = builder.icmp_unsigned(sign, *values)
        return builder.sext(outcome, mask_of(kind).llvm)


_comparison(operator.eq, "==")
_comparison(operator.lt, "<")
_comparison(operator.le, "<=")
