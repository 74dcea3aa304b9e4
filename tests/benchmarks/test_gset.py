"""The benchmark of cuts within a time limit, on a graph that the test makes."""

from __future__ import annotations

import numpy as np

import glasshouse as gh
from benchmarks import gset


def test_a_row_holds_our_cuts_and_the_gap_of_a_peer(tmp_path, monkeypatch, capsys):
    ring = gh.Ising.from_edges(5, [(k, (k + 1) % 5) for k in range(5)], [-1] * 5)
    gh.write(tmp_path / "ring.mc", ring)
    monkeypatch.setitem(gset.BEST_KNOWN, "ring", 4)
    worse = gset.in_rounds(lambda problem: lambda sweeps, runs: np.array([-1.0, 1.0]))
    monkeypatch.setitem(gset.PEERS, "peer", worse)
    (graph,) = gset.graphs(tmp_path, ["ring", "none"])
    assert "none: there is no such file" in capsys.readouterr().out
    row = gset.row_of(graph, 0.1, 2, ["peer"])
    assert (row["cuts"], row["reached"], row["gap, %"]) == ("4 4", "2 of 2", "0.000")
    assert row["peer, %"] == "25.000"


def test_there_are_twenty_graphs_of_the_g_set():
    assert len([name for name in gset.BEST_KNOWN if name.startswith("G")]) == 20
