"""A small vocabulary of LLVM vectors inside Numba: values that live in SIMD registers.

Numba vectorises loops on its own, but not across the branches and table look-ups of an annealing
step, and it has to prove that arrays do not overlap first. Here a vector is a value: `a ^ b` on two
vectors of 64 bytes is one LLVM instruction, on any machine, which LLVM turns into one or more
machine instructions of whatever width the processor has. The result never depends on that width.

| word | meaning |
|---|---|
| `load(array, i, n)` | n items of a flat array from item i on; no bounds check |
| `store(array, i, v)` | write them |
| `fill(x, n)` | n copies of a scalar |
| `fill_like(v, x)` | as many copies as v has lanes, of v's dtype |
| `load_row(array, i)` | as many items as make 1024 bits |
| `item(array, i)` | one item of a flat array as int64, no bounds check |
| `+ - * & | ^ ~ << >>` | lane by lane; shifts by a constant; `>>` brings in zeros |
| `== < <=` | lane by lane: all bits set where true; integers compare without sign |
| `choose(mask, a, b)` | a where the mask is set, else b |
| `anywhere(v)` | whether any bit of any lane is set |
| `cast(v, dtype)` | convert the numbers in the lanes (a mask keeps its meaning) |
| `view(v, dtype)` | the same bits as lanes of another width |
| `bits(v)` | the highest bit of each of 64 bytes, as one word |
| `masks(word)` | and back: 64 bytes, all bits set where the word has a bit |
| `fma(a, b, c)` | a·b + c, rounded once |
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import RequireLiteralValue, TypingError
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

_BITS = {
    types.uint8: 8, types.int16: 16, types.int32: 32, types.uint32: 32,
    types.int64: 64, types.uint64: 64, types.float32: 32, types.float64: 64,
}  # fmt: skip

# Untyped on purpose: kernels call these functions without their first argument.
word: Any = intrinsic
ROW_BITS = 1024  # of the kernels that work in floating point: 32 runs in float32, 16 in float64


class Vector(types.Type):
    """The Numba type of a vector: `lanes` values of the scalar type `dtype`."""

    def __init__(self, dtype: Any, lanes: int) -> None:
        if dtype not in _BITS:
            raise TypingError(f"there are no vectors of {dtype}")
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}x{lanes})")

    @property
    def is_float(self) -> bool:
        """Whether the lanes hold floating-point numbers."""
        return self.dtype in (types.float32, types.float64)

    @property
    def bits(self) -> int:
        """Width of a lane."""
        return _BITS[self.dtype]

    @property
    def llvm(self) -> ir.VectorType:
        """The type LLVM knows it by."""
        if self.is_float:
            scalar = ir.FloatType() if self.dtype == types.float32 else ir.DoubleType()
        else:
            scalar = ir.IntType(self.bits)
        return ir.VectorType(scalar, self.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, kind.llvm)  # type: ignore[no-untyped-call]


# Operators ------------------------------------------------------------------------------------


def _same(left: Any, right: Any) -> Any:
    return left if isinstance(left, Vector) and left == right else None


def _binary(symbol: Any, whole: str | None, floating: str | None) -> None:
    """Teach Numba an operator on two vectors of one type, as the named LLVM instruction."""

    @type_callable(symbol)
    def _(context: Any) -> Callable[..., Any]:
        return _same

    @lower_builtin(symbol, Vector, Vector)
    def _(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        name = floating if signature.args[0].is_float else whole
        if name is None:
            raise TypingError(f"{symbol.__name__} is not for {signature.args[0]}")
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
        return getattr(builder, instruction)(values[0], _broadcast(builder, scalar, kind))


_shift(operator.lshift, "shl")
_shift(operator.rshift, "lshr")


def mask_of(kind: Vector) -> Vector:
    """The type of a comparison's outcome: unsigned lanes of the same width."""
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


# Memory ---------------------------------------------------------------------------------------


def _broadcast(builder: Any, scalar: Any, kind: Vector) -> Any:
    empty = ir.Constant(kind.llvm, ir.Undefined)
    single = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), kind.lanes), [0] * kind.lanes)
    return builder.shuffle_vector(single, empty, everywhere)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _literal(value: Any, what: str) -> Any:
    if not isinstance(value, types.Literal):
        raise RequireLiteralValue(f"{what} must be a constant")
    return value.literal_value


@word
def load(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """`lanes` items of a flat array from `index` on, as a vector."""
    kind = Vector(array.dtype, _literal(lanes, "the number of lanes"))

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, array, values[0], values[1])
        loaded = builder.load(builder.bitcast(address, kind.llvm.as_pointer()))
        loaded.align = kind.bits // 8
        return loaded

    return kind(array, types.int64, lanes), generate


@word
def store(typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write a vector to a flat array of the same dtype, from `index` on."""
    if array.dtype != vector.dtype:
        raise TypingError(f"a {vector} does not fit an array of {array.dtype}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, array, values[0], values[1])
        written = builder.store(values[2], builder.bitcast(address, vector.llvm.as_pointer()))
        written.align = vector.bits // 8
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@word
def fill(typing: Any, scalar: Any, lanes: Any) -> Any:
    """A vector of `lanes` copies of a scalar; its dtype is the scalar's."""
    dtype = types.unliteral(scalar)
    kind = Vector(dtype, _literal(lanes, "the number of lanes"))

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _broadcast(builder, values[0], kind)

    return kind(dtype, lanes), generate


@word
def fill_like(typing: Any, vector: Any, scalar: Any) -> Any:
    """A vector of the same type as another, every lane the scalar."""
    given = types.unliteral(scalar)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = context.cast(builder, values[1], given, vector.dtype)
        return _broadcast(builder, value, vector)

    return vector(vector, given), generate


@word
def item(typing: Any, array: Any, index: Any) -> Any:
    """One item of a flat array, without the check for a negative index; int32 becomes int64."""
    result = types.int64 if array.dtype == types.int32 else array.dtype

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = builder.load(_address(context, builder, array, values[0], values[1]))
        return context.cast(builder, value, array.dtype, result)

    return result(array, types.int64), generate


@word
def load_row(typing: Any, array: Any, index: Any) -> Any:
    """As many items of a flat array as make 1024 bits, as a vector."""
    kind = Vector(array.dtype, ROW_BITS // _BITS[array.dtype])

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, array, values[0], values[1])
        loaded = builder.load(builder.bitcast(address, kind.llvm.as_pointer()))
        loaded.align = kind.bits // 8
        return loaded

    return kind(array, types.int64), generate


# Lanes ----------------------------------------------------------------------------------------


@word
def choose(typing: Any, mask: Any, first: Any, second: Any) -> Any:
    """`first` in the lanes whose mask is set, `second` in the others."""
    if first != second or mask != mask_of(first):
        raise TypingError(f"cannot choose between {first} and {second} by {mask}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        condition = builder.icmp_signed("!=", values[0], ir.Constant(mask.llvm, None))
        return builder.select(condition, values[1], values[2])

    return first(mask, first, second), generate


@word
def anywhere(typing: Any, vector: Any) -> Any:
    """Whether any bit is set."""
    width = ir.IntType(vector.lanes * vector.bits)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], width)
        return builder.icmp_unsigned("!=", bits, ir.Constant(width, 0))

    return types.boolean(vector), generate


@word
def cast(typing: Any, vector: Any, dtype: Any) -> Any:
    """The numbers converted to another dtype; wider integers from signed ones keep the sign."""
    target = Vector(dtype.dtype, vector.lanes)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        wider = target.bits > vector.bits
        if vector.is_float and target.is_float:
            convert = builder.fpext if wider else builder.fptrunc
        elif target.is_float:
            convert = builder.sitofp if vector.dtype.signed else builder.uitofp
        elif vector.is_float:
            convert = builder.fptosi
        elif wider:
            convert = builder.sext if vector.dtype.signed else builder.zext
        else:
            convert = builder.trunc
        return convert(values[0], target.llvm)

    return target(vector, dtype), generate


@word
def spread(typing: Any, mask: Any, dtype: Any) -> Any:
    """A mask for lanes of another width: all bits set where the given mask has all bits set."""
    target = Vector(dtype.dtype, mask.lanes)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        change = builder.sext if target.bits > mask.bits else builder.trunc
        return change(values[0], target.llvm) if target.bits != mask.bits else values[0]

    return target(mask, dtype), generate


@word
def view(typing: Any, vector: Any, dtype: Any) -> Any:
    """The same bits as lanes of another dtype."""
    bits = _BITS[dtype.dtype]
    target = Vector(dtype.dtype, vector.lanes * vector.bits // bits)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], target.llvm)

    return target(vector, dtype), generate


@word
def bits(typing: Any, vector: Any) -> Any:
    """The highest bit of each of 64 bytes, the first lane's as the lowest bit of a uint64."""
    if vector != Vector(types.uint8, 64):
        raise TypingError(f"a word has no bit for each lane of {vector}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        highest = builder.icmp_signed("<", values[0], ir.Constant(vector.llvm, None))
        return builder.bitcast(highest, ir.IntType(64))

    return types.uint64(vector), generate


@word
def masks(typing: Any, word: Any) -> Any:
    """64 bytes: all bits set in the lanes whose bit in a uint64 is."""
    kind = Vector(types.uint8, 64)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.bitcast(values[0], ir.VectorType(ir.IntType(1), 64))
        return builder.sext(lanes, kind.llvm)

    return kind(types.uint64), generate


@word
def fma(typing: Any, first: Any, second: Any, third: Any) -> Any:
    """First · second + third, rounded once: the same bits on every machine.

    Of vectors, or of single numbers.
    """
    kind = types.unliteral(first)
    is_known = kind.is_float if isinstance(kind, Vector) else kind == types.float64
    if not (is_known and kind == types.unliteral(second) == types.unliteral(third)):
        raise TypingError(f"fma needs three floats of one kind, not {first}, {second}, {third}")
    lanes = f"v{kind.lanes}f{kind.bits}" if isinstance(kind, Vector) else "f64"

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = ir.FunctionType(values[0].type, [values[0].type] * 3)
        function = cgutils.get_or_insert_function(builder.module, form, f"llvm.fma.{lanes}")
        return builder.call(function, values)

    return kind(kind, kind, kind), generate
