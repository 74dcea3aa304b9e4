"""Compiled code that several packages share, and that depends on none of them."""
