"""HTML reports on stores, instances, RBMs and proofs; the pages need no network.

Users call `report` in `writing`. It makes one section for each thing: `instance`, `proof`, `study`,
`race`, `sampler`, `training` or `machine`. A section consists of facts, figures and tables (`page`,
`charts`, `matrix`). `rendering` puts sections into HTML with `page.css`, `page.js` and the script
that draws the charts (`script`).
"""

from glasshouse.reports.writing import Report, report

__all__ = ["Report", "report"]
