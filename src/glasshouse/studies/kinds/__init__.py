"""What a study may measure of each instance: one line per kind.

Importing a kind adds it to the catalogue.
"""

from glasshouse.studies.kinds import excitations as excitations
from glasshouse.studies.kinds import hardness as hardness
from glasshouse.studies.kinds import shapes as shapes
from glasshouse.studies.kinds.study_kind import KINDS as KINDS
