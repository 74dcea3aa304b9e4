"""Compiled code for matchings: faces, minimum-weight matchings, and their moats."""
