"""Bounds by linear programs over cycles: of a whole graph at the root, and at each tree node.

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

* `rounds`: rounds of cuts at the root. `root`: the LP of one block. `blocks`: those of a graph.
* `tied_graph`: the states of a node. `node_lp`: its LP. `interior_duals`: better duals for it.
* `stock`: the cuts of all nodes, among which a node looks before it searches for others.
* `strong_branching`: the pair to branch on. `node`: the two relaxations of a tree search.
"""
