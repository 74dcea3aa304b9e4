"""`glasshouse tune`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from glasshouse.cli.output import show_json
from glasshouse.cli.types import Whole, whole


def tune(
    *,
    n: Annotated[int, Parameter(name=["--n", "-n"], converter=whole)],
    target_sweeps: float,
    knob: Literal["frustration", "loop_density", "block"] = "frustration",
    frustration: Annotated[str | None, Parameter(name=["--frustration", "-f"])] = None,
    loop_density: str | None = None,
    block: str | None = None,
    tolerance: float = 0.15,
    seed: Whole = 0,
    json: bool = False,
) -> None:
    """Find the instances of a given size that are as hard as wanted.

    Bisects one knob, solving as many instances at each setting as it takes to be sure. Hardness is
    the median number of sweeps that simulated annealing needs, with the paper's schedule.

    For instance:

    ```
    glasshouse tune -n 100 --target-sweeps 1e4
    glasshouse tune -n 40 --target-sweeps 1e5 --knob block -f 0.23 --loop-density 10
    ```

    Args:
        n: visible spins, and as many hidden ones.
        target_sweeps: the wanted hardness.
        knob: what to turn; the others are given, or the peak density.
        frustration: given, for the other knobs.
        loop_density: given; the paper's peak density by default.
        block: given: structured loops instead of random ones.
        tolerance: how far off the measured value may be, as a share of the target.
        seed: a whole number that fixes all randomness.
        json: print one JSON object.
    """
    from glasshouse.studies.tuning import tune as search

    given: dict[str, Any] = {
        "frustration": frustration, "loop_density": loop_density, "block": block,
    }  # fmt: skip
    if given.pop(knob) is not None:
        raise ValueError(f"--knob {knob} is what is searched for; leave its own option out")
    method = "structured_loops" if knob == "block" or block is not None else "random_loops"
    parameters = {name: value for name, value in given.items() if value is not None}
    found = search(
        n, target_sweeps, knob=knob, method=method, parameters=parameters, tolerance=tolerance,
        seed=seed,
    )  # fmt: skip
    if json:
        show_json({
            "method": found.task.method, "parameters": dict(found.task.parameters),
            "median": found.estimate.value, "low": found.estimate.low, "high": found.estimate.high,
            "instances": found.instances, "sweeps": found.sweeps, "seconds": found.seconds,
        })  # fmt: skip
    else:
        print(found.summary())
