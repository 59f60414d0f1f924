"""Define the settings of the sample study."""

from misspenalty_studies.common.settings import Distinct, Settings, setting
from misspenalty_studies.common.settings.types import Count


class MineSettings(Settings):
    """FIFO's anomaly."""

    frames: Distinct[Count] = setting([2, 3, 4, 5], "Sizes of the memory, in frames.", "The example has 3 and 4.")
