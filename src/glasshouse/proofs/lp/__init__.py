"""Bounds by linear programs over cycles, at the root and at the nodes of a search tree.

The root solves block by block over plain cycles, and ends with a feasible packing of cycles, which
can be lifted through contracted edges. A node has flipped arcs and odd cliques, keeps the basis of
the simplex method, and may use any multipliers.

Both share the following:

* `highs`: the only module that calls HiGHS.
* `cuts`: an inequality. `cut_lp`: a linear program whose rows are cuts.
* `separation`: violated inequalities: cycles, and odd cliques.
* `centre`: points between a solution and a centre, where cuts are searched for.
* `rounding`: from floating-point duals to exact multipliers, and how many loops there is time for.

The root and the nodes differ in their rounds:

* `rounds`: cutting planes at the root. `root`: the LP of one block. `blocks`: all LPs of a graph.
* `tied_graph`: the states of a node. `node_lp`: its LP. `interior_duals`: better duals for it.
* `stock`: the cuts of all nodes, which each node tries before it searches for new cuts.
* `strong_branching`: the pair to branch on. `node`: the two relaxations of a tree search.
"""
