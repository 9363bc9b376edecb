"""Room ``conditions``: what has to hold of the configuration where an object comes to a place.

A *literal* is a test of something that keeps its value while the process runs (a platform, a server argument, a field
that is set once), a *formula* what is necessary of them. An object that is made under ``c`` and a place that is reached
under ``not c`` never meet. It says only "never" for sure: what it cannot read holds whatever the configuration is.
"""

from auditor.conditions.formulas import FALSE, TRUE, Formula, Literal, either
from auditor.conditions.meeting import Conditions, Meeting

__all__ = ["FALSE", "TRUE", "Conditions", "Formula", "Literal", "Meeting", "either"]
