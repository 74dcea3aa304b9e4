"""Reports: anything that glasshouse makes, as one HTML page that needs no network.

`writing` is what people call. It makes one section for each thing: `instance`, `proof`, `study`,
`race`, `sampler`, `training` or `machine`. A section is made of facts, figures and tables (`page`,
`charts`, `matrix`). `rendering` puts sections into HTML with `page.css`, `page.js` and the script
that draws the charts (`script`).
"""

from glasshouse.reports.writing import Report, report

__all__ = ["Report", "report"]
