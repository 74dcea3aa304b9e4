"""Operations on LLVM vectors in Numba: values that stay in SIMD registers.

Numba vectorises loops itself, but not across the branches and table look-ups of an annealing step,
and it must first prove that arrays do not overlap. Here a vector is a value: `a ^ b` on two vectors
of 64 bytes is one LLVM instruction on any computer. LLVM translates it to one or more machine
instructions of the width that the processor has. The result never depends on that width.

| function or operator | meaning |
|---|---|
| `load(array, i, n)` | n items of a flat array, starting at item i; no bounds check |
| `store(array, i, v)` | write the lanes of v to a flat array, starting at item i |
| `fill(x, n)` | n copies of a scalar |
| `fill_like(v, x)` | a vector of the type of v, with copies of a scalar |
| `load_row(array, i)` | 1024 bits of a flat array, starting at item i |
| `load_lanes(array, i, tables)` | `tables.LANES` items of a flat array, starting at item i |
| `lanes_of(tables)` | the number `tables.LANES` |
| `item(array, i)` | one item of a flat array, int32 as int64; no bounds check |
| `+ - * & | ^ ~ << >>` | lane by lane; shifts by a constant; `>>` shifts in zeros |
| `== < <=` | lane by lane: all bits set where true |
| `choose(mask, a, b)` | lanes of a where the mask is set, lanes of b elsewhere |
| `anywhere(v)` | whether any bit of any lane is set |
| `cast(v, dtype)` | convert the numbers in the lanes; signed integers keep their sign |
| `spread(mask, dtype)` | the same mask for lanes of another width |
| `view(v, dtype)` | the same bits as lanes of another width |
| `bits(v)` | the highest bit of each of 64 bytes, as one word |
| `masks(word)` | the inverse: 64 bytes, each with all bits set where the word has a bit |
| `fma(a, b, c)` | a·b + c, rounded once |
| `bits_of(mask)` | one bit for each of up to 64 lanes, as int64; the first lane is the lowest bit |
| `lowest_bit(n)` `count_bits(n)` | the index of the lowest set bit, the number of set bits |
| `add_lanes(v)` | the sum of all lanes of an integer vector |
| `put(array, i, x)` | write one item of a flat array; no check for a negative index |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue, TypingError
from numba.extending import intrinsic

from glasshouse.kernels.vector_type import BITS, Vector, broadcast, mask_of

# Untyped on purpose: kernels call these functions without their first argument.
word: Any = intrinsic
ROW_BITS = 1024  # for floating-point kernels: 32 runs in float32, 16 in float64


# Memory ---------------------------------------------------------------------------------------


def address_of(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of an item of a flat array, without a bounds check."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _loading(kind: Vector) -> Callable[..., Any]:
    """Return a function that generates the LLVM instructions to load a vector from an array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = address_of(context, builder, signature.args[0], values[0], values[1])
        loaded = builder.load(builder.bitcast(address, kind.llvm.as_pointer()))
        loaded.align = kind.bits // 8
        return loaded

    return generate


def _literal(value: Any, what: str) -> Any:
    if not isinstance(value, types.Literal):
        raise RequireLiteralValue(f"{what} must be a constant at compile time")
    return value.literal_value


@word
def load(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """Load `lanes` items of a flat array, starting at `index`, as a vector."""
    kind = Vector(array.dtype, _literal(lanes, "the number of lanes"))
    return kind(array, types.int64, lanes), _loading(kind)


@word
def store(typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write a vector to a flat array of the same dtype, starting at `index`."""
    if array.dtype != vector.dtype:
        raise TypingError(f"an array of {array.dtype} cannot store a {vector}; cast it first")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = address_of(context, builder, array, values[0], values[1])
        written = builder.store(values[2], builder.bitcast(address, vector.llvm.as_pointer()))
        written.align = vector.bits // 8
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@word
def fill(typing: Any, scalar: Any, lanes: Any) -> Any:
    """Return a vector with `lanes` copies of a scalar."""
    dtype = types.unliteral(scalar)
    kind = Vector(dtype, _literal(lanes, "the number of lanes"))

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return broadcast(builder, values[0], kind)

    return kind(dtype, lanes), generate


@word
def fill_like(typing: Any, vector: Any, scalar: Any) -> Any:
    """Return a vector of the same type as `vector`, with a scalar in every lane."""
    given = types.unliteral(scalar)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = context.cast(builder, values[1], given, vector.dtype)
        return broadcast(builder, value, vector)

    return vector(vector, given), generate


@word
def item(typing: Any, array: Any, index: Any) -> Any:
    """Return one item of a flat array, without a check for a negative index."""
    result = types.int64 if array.dtype == types.int32 else array.dtype

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = builder.load(address_of(context, builder, array, values[0], values[1]))
        return context.cast(builder, value, array.dtype, result)

    return result(array, types.int64), generate


@word
def load_row(typing: Any, array: Any, index: Any) -> Any:
    """Load 1024 bits of a flat array, starting at `index`, as a vector."""
    kind = Vector(array.dtype, ROW_BITS // BITS[array.dtype])
    return kind(array, types.int64), _loading(kind)


@word
def load_lanes(typing: Any, array: Any, index: Any, tables: Any) -> Any:
    """Load `tables.LANES` items of a flat array, starting at `index`, as a vector."""
    kind = Vector(array.dtype, tables.instance_class.LANES)
    return kind(array, types.int64, tables), _loading(kind)


@word
def lanes_of(typing: Any, tables: Any) -> Any:
    """Return `tables.LANES`, the number of lanes that the kernel of these tables uses."""
    number = ir.Constant(ir.IntType(64), tables.instance_class.LANES)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return number

    return types.int64(tables), generate


# Lanes ----------------------------------------------------------------------------------------


@word
def choose(typing: Any, mask: Any, first: Any, second: Any) -> Any:
    """Select the lanes of `first` where the mask is set, and the lanes of `second` elsewhere."""
    if first != second or mask != mask_of(first):
        raise TypingError(f"{first} and {second} must have one type, and as many lanes as {mask}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        condition = builder.icmp_signed("!=", values[0], ir.Constant(mask.llvm, None))
        return builder.select(condition, values[1], values[2])

    return first(mask, first, second), generate


@word
def anywhere(typing: Any, vector: Any) -> Any:
    """Return whether any bit of a vector is set."""
    width = ir.IntType(vector.lanes * vector.bits)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], width)
        return builder.icmp_unsigned("!=", bits, ir.Constant(width, 0))

    return types.boolean(vector), generate


@word
def cast(typing: Any, vector: Any, dtype: Any) -> Any:
    """Convert the numbers in the lanes of a vector to another dtype."""
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
    """Convert a mask to a mask whose lanes have another width."""
    target = Vector(dtype.dtype, mask.lanes)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        change = builder.sext if target.bits > mask.bits else builder.trunc
        return change(values[0], target.llvm) if target.bits != mask.bits else values[0]

    return target(mask, dtype), generate


@word
def view(typing: Any, vector: Any, dtype: Any) -> Any:
    """Reinterpret the bits of a vector as lanes of another dtype."""
    bits = BITS[dtype.dtype]
    target = Vector(dtype.dtype, vector.lanes * vector.bits // bits)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], target.llvm)

    return target(vector, dtype), generate


@word
def bits(typing: Any, vector: Any) -> Any:
    """Pack the highest bit of each of 64 bytes into a uint64, with lane 0 as the lowest bit."""
    if vector != Vector(types.uint8, 64):
        raise TypingError(f"{vector} must be a vector of 64 lanes of uint8")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        highest = builder.icmp_signed("<", values[0], ir.Constant(vector.llvm, None))
        return builder.bitcast(highest, ir.IntType(64))

    return types.uint64(vector), generate


@word
def masks(typing: Any, word: Any) -> Any:
    """Expand a uint64 to 64 bytes: 255 for each bit that is set, 0 for each other bit."""
    kind = Vector(types.uint8, 64)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.bitcast(values[0], ir.VectorType(ir.IntType(1), 64))
        return builder.sext(lanes, kind.llvm)

    return kind(types.uint64), generate


@word
def fma(typing: Any, first: Any, second: Any, third: Any) -> Any:
    """Return first · second + third, rounded once, with the same bits on every computer.

    The arguments are vectors or single numbers.
    """
    kind = types.unliteral(first)
    is_known = kind.is_float if isinstance(kind, Vector) else kind == types.float64
    if not (is_known and kind == types.unliteral(second) == types.unliteral(third)):
        raise TypingError(f"fma needs three floats of one type, not {first}, {second}, {third}")
    lanes = f"v{kind.lanes}f{kind.bits}" if isinstance(kind, Vector) else "f64"

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = ir.FunctionType(values[0].type, [values[0].type] * 3)
        function = cgutils.get_or_insert_function(builder.module, form, f"llvm.fma.{lanes}")
        return builder.call(function, values)

    return kind(kind, kind, kind), generate


# Single numbers -------------------------------------------------------------------------------


@word
def bits_of(typing: Any, mask: Any) -> Any:
    """Pack up to 64 lanes of a mask into the bits of an int64, with lane 0 as the lowest bit."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.icmp_signed("<", values[0], ir.Constant(mask.llvm, None))
        packed = builder.bitcast(lanes, ir.IntType(mask.lanes))
        return builder.zext(packed, ir.IntType(64))

    return types.int64(mask), generate


def _of_bits(name: str) -> Callable[..., Any]:
    """Return a Numba intrinsic that applies the LLVM instruction `name` to an int64."""

    def typed(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, name)(*values, *([ir.IntType(1)(0)] if name == "cttz" else []))

        return types.int64(types.int64), generate

    return typed


lowest_bit = word(_of_bits("cttz"))  # 64 if no bit is set
count_bits = word(_of_bits("ctpop"))


@word
def add_lanes(typing: Any, vector: Any) -> Any:
    """Return the sum of all lanes of an integer vector."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = ir.FunctionType(values[0].type.element, [values[0].type])
        name = f"llvm.vector.reduce.add.v{vector.lanes}i{vector.bits}"
        function = cgutils.get_or_insert_function(builder.module, form, name)
        return builder.call(function, values)

    return vector.dtype(vector), generate


@word
def put(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write one item of a flat array, without a check for a negative index."""
    given = types.unliteral(value)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = address_of(context, builder, array, values[0], values[1])
        builder.store(context.cast(builder, values[2], given, array.dtype), address)
        return context.get_dummy_value()

    return types.void(array, types.int64, given), generate
