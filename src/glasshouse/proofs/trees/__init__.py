"""Search trees: branching, bounding by relaxations, and certificates.

* `node`: nodes, the certificate of a tree, and the memory of a tree.
* `search`: branch and bound in one process, and the relaxations that bound nodes, by name.
* `subtrees`: branch and bound in several processes.
* `growth`: one tree of one problem, from the first node, or an earlier certificate, to its own
  certificate.
"""
