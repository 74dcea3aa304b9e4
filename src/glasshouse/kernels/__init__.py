"""Compiled code shared by several packages. It does not depend on any of them."""
