"""Bounds for dense problems: semidefinite, with odd cliques as cuts, rounded to exact squares."""
