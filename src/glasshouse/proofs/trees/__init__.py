"""Search trees: branching, bounding by relaxations, certificates of what was found.

* `node`: nodes, the certificate of a tree, and the bytes that it holds.
* `search`: branch and bound in one process, and the relaxations that bound nodes, by name.
* `subtrees`: branch and bound in several processes.
* `growth`: one tree of one problem, from the first node, or an earlier certificate, to its own
  certificate.
"""
