"""Search trees: branching, bounding by relaxations, certificates of what was found.

* `node`: nodes, the certificate of a tree, and the bytes that it holds.
* `search`: branch and bound in one process. `subtrees`: in several.
* `relaxations`: the relaxations that bound nodes, by name.
* `growth`: one tree of one problem, from the first node, or an earlier certificate, to its own
  certificate.
"""
