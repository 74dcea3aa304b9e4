"""Charts on a caller's axes, in one style; studies, races and boltzmann have charts of their own.

* `style`: colours, markers, ticks and legends of all charts, and `save`.
* `instance`: `draw`, which shows one instance: its weights, its loops or its graph.
* `layouts`: the places of the spins of lattices and chips.
* `weight_matrix`: the weights of a problem as an image.
"""

from glasshouse.charts.instance import draw
from glasshouse.charts.style import save, styled

__all__ = ["draw", "save", "styled"]
