"""Races: other people's solvers on proven instances; nothing that they say is believed.

A command runs under limits (`command`, `limits`, `runner`, `processes`), what it prints is read
(`transcript`, `answer`) and judged by the proof (`clause_file`, `truth`, `judging`). A race asks
every entrant every instance of a suite (`suite_file`, `suite_loading`, `entrants`, `dialects`,
`race`), and is looked at (`results`, `scores`, `figures`, `time_series`). A hunt draws small
instances of proven optimum (`fuzzing`, `specimen`, `mutations`, `question`, `deciding`), asks one
solver (`trial`, `builtin`, `hunting`), shrinks what it fails on and hands it over (`shrinking`,
`handing_over`).
"""
