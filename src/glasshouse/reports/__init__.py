"""Reports: anything that glasshouse makes, as one HTML page that needs no network.

A section per thing (`study_section`, `race_section`, `sampler_section`, `training_section`,
`machine_section`, `instance_section`, `proof_section`) is made of facts, figures and tables
(`page`, `charts`, `matrix`, `tree_parts`, `tts`), which `rendering` puts into HTML with `page.css`
and `page.js`. `writing` is what people call.
"""

from glasshouse.reports.writing import Report, report

__all__ = ["Report", "report"]
