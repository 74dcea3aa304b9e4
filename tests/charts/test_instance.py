"""Pictures of instances: every spin in its place, dead qubits, biases, legends."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.certificates import Cores
from glasshouse.cli import main
from glasshouse.planting.graphs import Graph
from glasshouse.planting.methods import random_loops, structured_loops
from glasshouse.planting.methods.bias_loops import bias_loops
from glasshouse.planting.methods.graph_loops import graph_loops
from glasshouse.planting.shuffling import names, shuffle

pytest.importorskip("matplotlib")

from glasshouse.charts import instance, layouts
from glasshouse.charts.instance import draw, draw_graph
from glasshouse.charts.layouts import layout_of
from glasshouse.charts.style import new_figure, save

CHIPS = {
    "chimera": "chimera:3x3x4 without 3,17,40",
    "pegasus": "pegasus:2 without 30,31",
    "zephyr": "zephyr:2 without 5,9",
}


def on(graph, loops=12):
    return graph_loops(graph, frustration="1/5", loops=loops, rng=1)


def words(legend):
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("chip", CHIPS)
class TestChips:
    def test_every_qubit_is_where_the_chip_has_it(self, chip):
        tools = pytest.importorskip("dwave.graphs")
        name = Graph.parse(CHIPS[chip]).name
        sizes = [int(k) for k in name.partition(":")[2].split(" ")[0].split("x")]
        whole = getattr(tools, f"{chip}_graph")(*sizes)
        expected = getattr(tools, f"{chip}_layout")(whole)
        plant = on(CHIPS[chip])
        dead = {int(k) for k in name.partition(" without ")[2].split(",")}
        for grown in (plant, shuffle(plant)):
            found = layout_of(grown)
            assert set(found.labels) == set(whole.nodes) - dead
            for label, place in zip(found.labels, found.places, strict=True):
                assert place == pytest.approx(expected[label])
            # Every coupling of the instance is a coupler of the chip.
            for i, j in grown.ising.edges:
                assert whole.has_edge(found.labels[i], found.labels[j])
            assert found.dead == pytest.approx(np.array([expected[k] for k in sorted(dead)]))

    def test_dead_qubits_are_shown_and_explained(self, chip):
        pytest.importorskip("dwave.graphs")
        plant = on(CHIPS[chip])
        (ax,) = draw(plant).axes
        crosses = [line for line in ax.lines if line.get_marker() == "x"]
        assert sum(len(line.get_xdata()) for line in crosses) == len(layout_of(plant).dead)
        assert "dead qubit" in words(ax.get_legend())


def test_a_shuffled_lattice_is_drawn_as_the_lattice_it_is():
    plant = on("torus:4x5")
    mixed, new = layout_of(shuffle(plant)), names(plant.recipe, 20)
    assert mixed.places[new] == pytest.approx(layout_of(plant).places)
    ends = mixed.places[shuffle(plant).ising.edges]
    lengths = np.abs(ends[:, 0] - ends[:, 1]).sum(axis=1)
    assert (lengths[~mixed.wrapped] == 1).all()
    assert (lengths[mixed.wrapped] > 1).all()


@pytest.mark.parametrize(
    "grow",
    [lambda: on("torus:4x5"), lambda: on("complete:12"), lambda: on("lattice:6x7 without 3"),
     lambda: on("complete:70"),
     lambda: shuffle(bias_loops(8, 8, frustration="1/5", loops=9, rng=1))],
    ids=["torus", "circle", "lattice", "forces", "biases"],
)  # fmt: skip
def test_the_legend_of_a_graph_is_over_no_data_and_explains_every_mark(grow):
    plant = grow()
    figure = draw(plant)
    figure.canvas.draw()
    (ax,) = figure.axes
    box = ax.get_legend().get_window_extent()
    places = ax.transData.transform(layout_of(plant).places)
    assert not any(box.contains(x, y) for x, y in places)
    shown = words(ax.get_legend())
    gauged = gh.gauge(plant.ising, plant.state)
    free = plant.ising.num_variables - len(
        np.union1d(gauged.edges, np.flatnonzero(gauged.fields != 0))
    )
    assert ("bias, satisfied" in shown) == bool((gauged.fields > 0).any())
    assert ("bias, frustrated" in shown) == bool((gauged.fields < 0).any())
    assert any(text.startswith("free spin") for text in shown) == bool(free)
    assert ("missing node" in shown) == ("without" in str(plant.recipe.parameters.get("graph")))
    drawn = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o")
    assert drawn == plant.ising.num_variables


def test_few_spins_are_named_and_thousands_are_not():
    assert {t.get_text() for t in draw(on("complete:12")).axes[0].texts} == set(map(str, range(12)))
    large = draw(on("lattice:60x60", 100))
    assert len(large.axes[0].texts) == 0
    assert len(large.axes) == 1


def test_a_graph_beyond_pictures_is_drawn_as_a_matrix(monkeypatch):
    monkeypatch.setattr(layouts, "MOST_BY_FORCES", 60)
    plant = on("complete:70")
    assert layout_of(plant) is None
    assert [ax.get_xlabel() for ax in draw(plant).axes] == ["spin $j$"] * 2
    with pytest.raises(ValueError, match="use draw_weights"):
        draw_graph(new_figure()[1], plant)


class TestSets:
    """Clauses and products: their variables are joined in pairs."""

    def test_a_clause_that_the_model_falsifies_is_red(self):
        problem = gh.MaxSat(4, [[1, 2, 3], [-1], [-2], [-3]], [2, 1, 1, 1], hard=[[-2, -4]])
        tree = Cores.of([(1, [1, 2, 3, -1, -4, -3, -2])])
        plant = gh.Planted.of_cores(problem, tree, np.array([1, -1, -1, 1], np.int8))
        plant.verify()
        form = layouts.couplings_of(plant)
        assert dict(zip(map(tuple, form.edges.tolist()), form.weights, strict=True)) == {
            (0, 1): 2, (0, 2): 2, (1, 2): 2, (1, 3): 1,
        }  # fmt: skip
        assert form.fields.tolist() == [-1, 1, 1, 0]  # the unit clause ¬x1 is false
        turned = gh.Planted.of_cores(problem, tree, -plant.state)
        assert layouts.couplings_of(turned).fields.tolist() == [1, -1, -1, 0]
        axes = new_figure()[1]
        draw_graph(axes, plant)
        assert "clause, satisfied" in words(axes.get_legend())

    def test_a_product_that_the_state_violates_is_red(self):
        plant = gh.product_loops(9, products=2, frustration="1/4", rng=1)
        problem, form = plant.problem, layouts.couplings_of(plant)
        expected = {}
        for term, weight in problem.terms().items():
            violated = weight * np.prod(plant.state[list(term)]) > 0
            for pair in itertools.combinations(term, 2):
                total, bad = expected.get(pair, (0, False))
                expected[pair] = total + abs(weight), bad or violated
        found = dict(zip(map(tuple, form.edges.tolist()), form.weights, strict=True))
        assert found == {pair: -w if bad else w for pair, (w, bad) in expected.items()}
        assert any(bad for _, bad in expected.values())
        assert "product, satisfied" in words(draw(plant).axes[0].get_legend())

    def test_too_many_variables_are_refused(self):
        with pytest.raises(ValueError, match="3000 variables are too many to draw: clauses"):
            draw(gh.cores(3000, cores=2, rng=1))


class TestMatrices:
    @pytest.mark.parametrize("shape", [(12, 8), (4, 40), (60, 5)])
    def test_colour_bars_are_as_high_as_their_matrices(self, shape):
        figure = draw(random_loops(*shape, frustration="1/5", loops=9, rng=1))
        figure.canvas.draw()
        for ax in figure.axes:
            matrix, (scale,) = ax.get_window_extent(), [
                child for child in ax.child_axes if child.get_ylabel().startswith("weight")
            ]  # fmt: skip
            bar = scale.get_window_extent()
            assert (bar.y0, bar.y1) == pytest.approx((matrix.y0, matrix.y1), abs=1)
            assert 0 < bar.x0 - matrix.x1 < 0.2 * matrix.width + 5
            assert bar.x1 < figure.bbox.x1

    def test_loops_and_block_are_explained_below(self):
        plant = structured_loops(10, 10, frustration="0.23", block="0.3", loops=20, rng=1)
        figure = draw(plant)
        figure.canvas.draw()
        (legend,) = figure.legends
        assert words(legend) == ["block $B_1$, upper left", "loop 0", "loop 1", "loop 2",
                                 "a loop's negative weight"]  # fmt: skip
        assert not any(legend.get_window_extent().overlaps(ax.get_tightbbox())
                       for ax in figure.axes)  # fmt: skip

    def test_a_drawn_loop_is_that_loop(self):
        plant = random_loops(9, 7, frustration="1/5", loops=5, rng=1)
        ax = draw(plant).axes[1]
        gauged = gh.gauge(plant.problem, plant.state).matrix
        squares = [line for line in ax.lines if line.get_marker() == "s" and len(line.get_xdata())]
        assert len(squares) == 3
        for line in squares:  # random loops never cancel: their negative weights stay negative
            assert gauged[line.get_ydata()[0], line.get_xdata()[0]] < 0

    def test_biases_are_shown(self):
        plant = bias_loops(12, 9, frustration="1/5", loops=20, rng=1)
        for ax, form in zip(
            draw(plant).axes, (plant.problem, gh.gauge(plant.problem, plant.state)), strict=True
        ):
            above, beside = [child for child in ax.child_axes if not child.get_ylabel()]
            for strip, biases in ((above, form.hidden_bias), (beside, form.visible_bias)):
                shown = np.ma.filled(strip.images[0].get_array(), 0).reshape(-1)
                assert shown.tolist() == biases.tolist()
        plain = draw(random_loops(9, 7, frustration="1/5", loops=5, rng=1))
        assert all(len(ax.child_axes) == 1 for ax in plain.axes)

    def test_a_large_matrix_is_summed_and_says_so(self):
        plant = random_loops(700, 300, frustration="1/5", loops=500, rng=1)
        ax = draw(plant).axes[0]
        cells = ax.images[0].get_array()
        assert cells.shape == (234, 100)
        assert cells.sum() == plant.problem.matrix.sum()
        assert max(cells.shape) <= instance._MOST_CELLS
        assert "summed over" in ax.child_axes[-1].get_ylabel()


def test_the_command_draws_in_the_format_of_the_suffix(tmp_path, capsys):
    file, picture = tmp_path / "x.npz", tmp_path / "x.pdf"
    gh.write(file, random_loops(8, 8, frustration="1/5", loops=4, rng=1))
    assert main(["draw", str(file), "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"%PDF")
    assert main(["draw", str(file), "-o", str(tmp_path / "x.jpg"), "--force"]) == 2
    assert ".png, .svg or .pdf" in capsys.readouterr().err


def test_an_instance_in_every_shape_is_saved(tmp_path):
    plants = [on("complete:3", 1), random_loops(2, 2, frustration=0, loops=1, rng=1)]
    for k, plant in enumerate(plants):
        assert save(draw(plant), [tmp_path / f"{k}.png"])[0].stat().st_size > 5000


def test_nodes_are_called_as_in_the_graph_they_came_from():
    import networkx

    named = networkx.relabel_nodes(networkx.complete_graph(5), dict(enumerate("abcde")))
    plant = graph_loops(named, frustration="1/3", length=3, loops=2, rng=1)
    assert layout_of(plant).labels == tuple("abcde")
    assert set("abcde") <= {text.get_text() for text in draw(plant).axes[0].texts}
