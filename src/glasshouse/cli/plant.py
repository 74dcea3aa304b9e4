"""`glasshouse plant METHOD`: one sub-command a method, all with the same output options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from glasshouse.cli.instances import Output, write_instances
from glasshouse.cli.types import MaybeWhole, whole

plant = App(
    name="plant",
    help="""Grow an instance whose optimum is known and proven, or a suite of them.

    For instance:

    ```
    glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf
    ```
    """,
)

Visible = Annotated[int, Parameter(name=["--visible", "-n"], converter=whole)]
Hidden = Annotated[int | None, Parameter(name=["--hidden", "-m"], converter=whole)]
Frustration = Annotated[str, Parameter(name=["--frustration", "-f"])]
Overlap = Literal["constructive", "none"]
DEFAULT = Output()


@plant.command(name="random")
def random_loops(
    *,
    n: Visible,
    m: Hidden = None,
    frustration: Frustration,
    loop_density: str | None = None,
    loops: MaybeWhole = None,
    overlap: Overlap = "constructive",
    weights: Literal["equal", "normal"] = "equal",
    spread: str | None = None,
    resolution: MaybeWhole = None,
    max_weight: MaybeWhole = None,
    output: Output = DEFAULT,
) -> None:
    """Drop loops of length 4 at random on an RBM (the paper's Algorithm 1).

    For instance:

    ```
    glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf
    glasshouse plant random -n 60 -f 0.21 --loop-density 0.4 --count 100 --out-dir suite
    ```

    Args:
        n: visible spins.
        m: hidden spins, as many as visible ones by default.
        frustration: share of violated weight, 0 to 1/4, as 1/5 or 0.2.
        loop_density: loops for each visible spin.
        loops: how many loops, instead of their density.
        overlap: whether loops may add up on an edge.
        weights: all loops alike, or with normal scatter.
        spread: scatter of normal weights, as a share of their mean.
        resolution: integer steps of normal weights in the weight of a loop.
        max_weight: the largest weight allowed on an edge.
    """
    grow(
        "random_loops", output, n=n, m=n if m is None else m, frustration=frustration,
        loop_density=loop_density, loops=loops, overlap=overlap, weights=weights, spread=spread,
        resolution=resolution, max_weight=max_weight,
    )  # fmt: skip


@plant.command(name="structured")
def structured_loops(
    *,
    n: Visible,
    m: Hidden = None,
    frustration: Frustration,
    loop_density: str | None = None,
    loops: MaybeWhole = None,
    block: str,
    left: str | None = None,
    upper: str | None = None,
    center: str | None = None,
    block_rule: Literal["paper", "authors"] = "paper",
    output: Output = DEFAULT,
) -> None:
    """Concentrate the negative weights in a block of an RBM (the paper's Algorithm 2).

    Hard also at high loop density, where random loops become easy.

    For instance:

    ```
    glasshouse plant structured -n 40 -f 0.23 --loop-density 40 --block 0.3 -o hard.wcnf
    ```

    Args:
        n: visible spins.
        m: hidden spins, as many as visible ones by default.
        frustration: share of violated weight, 0 to 1/4, as 1/5 or 0.2.
        loop_density: loops for each visible spin.
        loops: how many loops, instead of their density.
        block: side of the block of negative weights, as a share of the matrix (the paper's d).
        left: share of left loops.
        upper: share of upper loops.
        center: share of center loops, all by default.
        block_rule: ceil((n-1)d) as in the paper, or ceil(nd) as in its authors' code.
    """
    grow(
        "structured_loops", output, n=n, m=n if m is None else m, frustration=frustration,
        loop_density=loop_density, loops=loops, block=block, left=left, upper=upper,
        center=center, block_rule=block_rule,
    )  # fmt: skip


@plant.command(name="bias")
def bias_loops(
    *,
    n: Visible,
    m: Hidden = None,
    frustration: Frustration,
    loop_density: str | None = None,
    loops: MaybeWhole = None,
    ghosts: Literal[1, 2] = 1,
    bias_strength: str | None = None,
    output: Output = DEFAULT,
) -> None:
    """Run loops through ghost spins, which gives an RBM with biases.

    For instance:

    ```
    glasshouse plant bias -n 50 -f 1/5 --loop-density 0.5 --ghosts 2 -o biased.wcnf
    ```

    Args:
        n: visible spins.
        m: hidden spins, as many as visible ones by default.
        frustration: share of violated weight in a loop: up to 1/4, or 1/3 with two ghosts.
        loop_density: loops for each visible spin.
        loops: how many loops, instead of their density.
        ghosts: through how many fixed spins a loop runs.
        bias_strength: multiplies the biases, which keeps the planted state optimal.
    """
    grow(
        "bias_loops", output, n=n, m=n if m is None else m, frustration=frustration,
        loop_density=loop_density, loops=loops, ghosts=ghosts, bias_strength=bias_strength,
    )  # fmt: skip


@plant.command(name="classic")
def classic_loops(
    *,
    graph: str | None = None,
    n: Annotated[int | None, Parameter(name=["--visible", "-n"], converter=whole)] = None,
    m: Hidden = None,
    frustration: Annotated[str | None, Parameter(name=["--frustration", "-f"])] = None,
    loop_density: str | None = None,
    loops: MaybeWhole = None,
    length: MaybeWhole = None,
    min_length: MaybeWhole = None,
    max_weight: MaybeWhole = None,
    output: Output = DEFAULT,
) -> None:
    """Random-walk loops that may cancel each other (Hen et al. 2015), the baseline.

    For instance:

    ```
    glasshouse plant classic -n 100 --loop-density 0.3 -o baseline.wcnf
    glasshouse plant classic --graph chimera:4 --loop-density 0.2 --min-length 8 -o c4.coo
    ```

    Args:
        graph: a graph's name, such as torus:8x8, or a file of edges; instead of -n and -m.
        n: visible spins of an RBM.
        m: hidden spins, as many as visible ones by default.
        frustration: share of violated weight in a loop; needs --length.
        loop_density: loops for each visible spin, or for half the nodes of a graph.
        loops: how many loops, instead of their density.
        length: the length of all loops.
        min_length: drop loops that are shorter.
        max_weight: the largest weight allowed on an edge.
    """
    if (graph is None) == (n is None) or (graph is not None and m is not None):
        raise ValueError("give either --graph, or -n (and -m)")
    where = (n, n if m is None else m) if graph is None else named_graph(graph)
    grow(
        "classic_loops", output, graph=where, frustration=frustration, loop_density=loop_density,
        loops=loops, length=length, min_length=min_length, max_weight=max_weight,
    )  # fmt: skip


@plant.command(name="graph")
def graph_loops(
    graph: str,
    /,
    *,
    frustration: Frustration,
    loop_density: str | None = None,
    loops: MaybeWhole = None,
    length: MaybeWhole = None,
    max_length: MaybeWhole = None,
    block: str | None = None,
    overlap: Overlap = "constructive",
    max_weight: MaybeWhole = None,
    output: Output = DEFAULT,
) -> None:
    """Loops that never oppose each other, on any graph with a cycle.

    Names of graphs: lattice:8x8, torus:4x4x4, complete:20, layers:5x5x5, deep:16x8x4, chimera:4,
    pegasus:3, zephyr:2; `torus:8x8 without 3,17` leaves out dead nodes. Or a file: a problem whose
    couplings are the graph, or a text file with two node numbers per line.

    For instance:

    ```
    glasshouse plant graph torus:8x8 -f 1/4 --length 4 --loop-density 1 -o torus.coo
    glasshouse plant graph "chimera:4 without 7" -f 1/8 --loop-density 0.3 -o c4.wcnf
    glasshouse plant graph complete:40 -f 0.23 --block 0.3 --loop-density 10 -o dense.wcnf
    ```

    Args:
        graph: a graph's name or file.
        frustration: share of violated weight in a loop: 1/3 on triangles, 1/L on L-loops.
        loop_density: loops for half the nodes.
        loops: how many loops, instead of their density.
        length: the length of all loops.
        max_length: the longest loop.
        block: concentrate negative weights among the first nodes (this share of them).
        overlap: whether loops may add up on an edge.
        max_weight: the largest weight allowed on an edge.
    """
    where, shared = named_graph(graph), {"loop_density": loop_density, "loops": loops}
    if block is not None:
        if length or max_length or max_weight or overlap != "constructive":
            raise ValueError(
                "--block goes with none of --length, --max-length, --overlap, "
                "--max-weight: structured loops have length 4 and add up"
            )
        grow(
            "structured_graph_loops",
            output,
            graph=where,
            frustration=frustration,
            block=block,
            **shared,
        )
        return
    grow(
        "graph_loops", output, graph=where, frustration=frustration, length=length,
        max_length=max_length, overlap=overlap, max_weight=max_weight, **shared,
    )  # fmt: skip


@plant.command(name="uniform")
def uniform_max2sat(
    *,
    n: Visible,
    m: Hidden = None,
    clause_density: str,
    output: Output = DEFAULT,
) -> None:
    """Unweighted MAX-2-SAT: disjoint loops at f = 1/4, all weights 1.

    For instance:

    ```
    glasshouse plant uniform -n 100 --clause-density 3 -o unweighted.wcnf
    ```

    Args:
        n: visible spins; half of the variables.
        m: hidden spins, as many as visible ones by default.
        clause_density: clauses for each variable.
    """
    grow("uniform_max2sat", output, n=n, m=n if m is None else m, clause_density=clause_density)


def named_graph(text: str) -> Any:
    """A graph by its name, or from a file where there is one of that name."""
    if not Path(text).is_file():
        return text
    from glasshouse.files.graph_reading import read_graph

    return read_graph(text)


def grow(method: str, output: Output, **parameters: Any) -> None:
    """Call a planting method with what was given on the command line, and write what grew."""
    from glasshouse import planting

    given = {name: value for name, value in parameters.items() if value is not None}
    method_of_planting = getattr(planting, method)
    stem = method.removesuffix("_loops").removesuffix("_max2sat")
    write_instances(lambda rng: method_of_planting(**given, rng=rng), stem, output)
