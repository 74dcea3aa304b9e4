"""Figures of instances, and charts: charts are data, for matplotlib axes or for web pages.

* `chart`: `Chart`, the content of a chart: axes and series of marks. Studies and races make charts.
* `on_axes`: a chart drawn by matplotlib.
* `vega`: a chart as a Vega-Lite specification, with its rows.
* `style`: colours, markers, ticks and legends of all drawings, and `save`.
* `instance`: `draw`, which shows one instance: its weights, its loops or its graph.
* `layouts`: the positions of the spins of lattices and chips.
* `weight_matrix`: the weights of a problem as an image.
"""

from glasshouse.charts.chart import Axis, Chart, Mark, Series, Shape, estimate_marks, thinned
from glasshouse.charts.instance import draw
from glasshouse.charts.on_axes import plot_chart
from glasshouse.charts.style import save, styled
from glasshouse.charts.vega import Column, vega_chart

__all__ = [
    "Axis", "Chart", "Column", "Mark", "Series", "Shape", "draw", "estimate_marks", "plot_chart",
    "save", "styled", "thinned", "vega_chart",
]  # fmt: skip
