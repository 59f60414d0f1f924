"""Define the settings of the what-if: the replays that it needs, and their lengths."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from misspenalty.errors import did_you_mean
from misspenalty_studies.common.settings import Distinct, Name, SettingError, Settings, setting
from misspenalty_studies.common.settings.types import InnerShare
from misspenalty_studies.sarc.runs import LOADS


class WhatifWorkload(Settings):
    """Random updates of the virtual log."""

    one_row: ClassVar[bool] = True

    utilisation: InnerShare = setting(what="Share of the disk's blocks that the file occupies.")
    updates: Annotated[int, Field(ge=100)] = setting(what="Number of updates measured.")
    warm_up: Annotated[float, Field(ge=0)] = setting(what="Updates before these, in multiples of the disk's blocks.")


class SarcPoint(Settings):
    """A configuration and load of the SARC study."""

    one_row: ClassVar[bool] = True

    config: Literal["cache_sensitive", "cache_insensitive"] = setting(what="Configuration, as in the study's tables.")
    iops: Annotated[int, Field(ge=1)] = setting(what="Scaled IOPS; one of the study's loads.")
    load: Literal["same requests", "same utilisation"] = setting(
        what="Load with another back end. `same requests`: as many requests per second; `same utilisation`: as many as "
        "keep the back end equally busy."
    )

    @model_validator(mode="after")
    def check(self):
        """Check that the study runs the configuration at this load."""
        if self.iops not in LOADS[self.config]:
            loads = ", ".join(map(str, LOADS[self.config]))
            raise SettingError(f"{self.iops} is not a load of {self.config}; expected one of {loads}", "iops")
        return self


POINTS = {
    "sensitive-half": {"config": "cache_sensitive", "iops": 12500, "load": "same requests"},
    "sensitive": {"config": "cache_sensitive", "iops": 20000, "load": "same requests"},
    "sensitive-scaled": {"config": "cache_sensitive", "iops": 20000, "load": "same utilisation"},
    "insensitive": {"config": "cache_insensitive", "iops": 9091, "load": "same requests"},
}


class WhatifSettings(Settings):
    """The five conclusions on the machines of 1997 to 2025."""

    builds: Distinct[Name] = setting(
        ["andrew", "ld"], "Recorded builds that EPCM runs on; keys of epcm.captures.", "The two that take seconds."
    )
    measured_runs: Annotated[int, Field(ge=1)] = setting(3, "Runs of each build that are measured.")
    workload: WhatifWorkload = setting(
        {"utilisation": 0.68, "updates": 10_000, "warm_up": 5},
        "Random updates of the virtual log.",
        "As in vlog.workload, so that the paper's platform yields the study's number.",
    )
    sarc: Annotated[dict[Name, SarcPoint], Field(min_length=1)] = setting(
        POINTS, "Points of the SARC study whose counts are priced, under names of your own.", block=True
    )

    def check_studies(self, run):
        """Check that every build is one of EPCM's captures.

        Raises
        ------
        SettingError
            A build is not one of EPCM's captures.
        """
        captures = run.epcm.captures.plain()
        for name in self.builds:
            if name not in captures:
                raise SettingError(
                    f"{name!r} is not one of epcm.captures ({', '.join(captures)}){did_you_mean(name, captures)};"
                    " leave it out, or name one of them",
                    "whatif",
                    "builds",
                )
