"""Define typed settings: one model per block of a configuration gives the checks, schema, default file and table.

`types` has the base class and the types of values, `messages` explains errors in a configuration, and `documents` makes
the texts of the files that follow from the models. The studies define which settings there are;
`misspenalty_studies.common.configuration` collects them.
"""

# ruff: noqa: F401
from misspenalty_studies.common.settings.messages import SettingError, at, explain
from misspenalty_studies.common.settings.types import Distinct, Name, Number, Path, Settings, setting
