"""Define and validate the settings of the MQ study."""

import itertools
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.policies.registry import find_policy
from misspenalty_studies.common.settings import Distinct, Name, Number, SettingError, Settings, at, setting
from misspenalty_studies.common.settings.types import Positive

PARTS = ("server", "client")
CALIBRATED = "calibrated"  # name of the stream behind a first level calibrated on Table 3
Numbers = Annotated[list[Number], Field(min_length=1)]
POLICIES = {
    "opt": {"policy": "opt"},
    "mq": {"policy": "mq", "parameters": {"queues": 8, "history": 4}},
    "2q": {"policy": "2q", "parameters": {"kout": 0.5}},
    "lru2": {"policy": "lru2", "parameters": {"history": 4}},
    "lfru": {"policy": "lfru", "parameters": {"history": 4}, "grid": {"lam": [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]}},
    "fbr": {
        "policy": "fbr",
        "parameters": {"history": 4},
        "grid": {"f_new": [0.1, 0.25], "f_old": [0.5, 0.7], "a_max": [10, 100]},
    },
    "lfu": {"policy": "lfu", "parameters": {"history": 4}},
    "lfu-in-cache": {"policy": "lfu", "parameters": {"history": 0}},
    "lru": {"policy": "lru"},
    "mru": {"policy": "mru"},
}


def _counted(writes):
    if writes[0] != "count":
        raise ValueError("count must come first, because Table 4 and Figure 7 are made with it")
    return writes


class PolicyRow(Settings):
    """One row of Tables 2 and 3."""

    policy: str = setting(what="Name of a policy; see `misspenalty policies`.")
    parameters: dict[str, Number] | None = setting(
        None, "The policy's parameters by name; absent ones keep the policy's default."
    )
    grid: dict[str, Numbers] | None = setting(
        None, "Parameters whose combinations are all tried; the best combination is kept for each size."
    )

    @model_validator(mode="after")
    def check_combinations(self):
        """Check that every combination that the replay would try is valid, and that no parameter is set twice."""
        twice = [name for name in self.parameters or {} if name in (self.grid or {})]
        if twice:
            raise SettingError(f"{twice[0]} is both set and varied; keep it in either parameters or grid", "grid")
        check_policy(self.policy, self.parameters, self.grid)
        return self


class FirstLevel(Settings):
    """Simulated first levels: LRU, writing back."""

    sizes_mb: Distinct[Positive] = setting(what="Sizes of the first level, MB.")


class Calibrated(Settings):
    """A simulated first level whose size is calibrated on Table 3."""

    capture: Name = setting(what="Capture behind a smaller first level, over which the calibrated level is simulated.")
    reads: int = setting(
        what="Number of reads of the stream behind the calibrated level, which determines the share of cold reads; "
        "from the paper's Table 1.",
        ge=1,
    )
    shorter: Name | None = setting(
        None, "Another capture, used whole, over which the size is also calibrated; that is a condition, not a result."
    )
    shown_mb: Distinct[Annotated[int, Field(ge=1, le=4096)]] = setting(
        what="Sizes of the first level, MB, for which hit ratios are shown next to those of the calibrated one."
    )


class MqSettings(Settings):
    """Multi-Queue, USENIX 2001."""

    server: Name = setting("128mb", "Capture that Table 4 and Figure 7 are judged on.")
    calibrated: Calibrated = setting(
        {
            "capture": "2mb-long",
            "reads": 7_300_000,
            "shorter": "16mb",
            "shown_mb": [32, 40, 48, 56, 64, 72, 80, 96, 128],
        },
        "The stream behind a simulated LRU first level whose size is calibrated on Table 3 (data/calibration.yaml); "
        "its results have the suffix _calibrated, and verdicts on them the basis `calibrated` or `fitted`.",
        "No claim tests Table 3's distances.",
        block=True,
    )
    client: Name = setting(
        "2mb",
        "Capture of the client's side, for Figure 2 and a curve of Figure 4; the first levels of `first_level` are "
        "simulated over it. It must not be the capture of `server`.",
    )
    cache_mb: Distinct[Positive] = setting(
        [128, 256, 512], "Storage caches of Table 4 and Figure 7, MB; all of them are among table2_mb.", "The paper's."
    )
    table2_mb: Distinct[Positive] = setting(
        [64, 128, 256, 512, 1024], "Storage caches of Table 2, MB.", "The paper's three, and one doubling on each side."
    )
    table3_mb: Positive = setting(
        512, "Storage cache of Table 3, MB; one of table2_mb.", "The paper's; 512 MB are 64k blocks of 8 KB."
    )
    lru_curve_mb: Distinct[Positive] = setting(
        [128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048],
        "Cache sizes of the curve that shows at which size LRU matches MQ, MB.",
        "Fine enough to interpolate between two points.",
    )
    writes: Annotated[Distinct[Literal["count", "ignore", "refresh"]], AfterValidator(_counted)] = setting(
        ["count", "ignore", "refresh"],
        "How the storage cache treats a write. `count`: as an access, like a read; `ignore`: not at all; `refresh`: "
        "as an access if its block is in the cache, otherwise not at all.",
        "The paper does not say which its simulator did; it numbers temporal distances over all accesses to the "
        "server's cache (section 3.1), so `count` is judged, and Tables 2 and 3 show all three. Hits are counted over "
        "reads in any case.",
    )
    warm_up: int = setting(
        0,
        "References at the head of the trace that fill the cache and are not counted in Tables 2 and 4, the LRU curve "
        "and the sensitivity run. Table 3 and the simulated first levels count every reference, and Figure 7 has a "
        "warm-up of its own (`warm_up_share` in studies/mq/machine.yaml).",
        "The paper's Table 2 follows from its Table 3 only if nothing was left out.",
        ge=0,
    )
    policies: dict[Name, PolicyRow] = setting(
        POLICIES,
        "Rows of Tables 2 and 3: label -> policy, its parameters, and a grid whose best combination is kept for "
        "each size. Table 4 and Figure 7 compare mq with lru, so these two are required, with the library's "
        "parameters.",
        "The authors tried several settings of FBR and LFRU and reported the best, but do not name them. Histories are "
        "4 times the cache wherever the paper says so; 2Q's is half the cache.",
        notes={"lfu-in-cache": "LFU as commonly defined: a count ends when its block is evicted"},
        block=True,
    )
    sensitivity: Annotated[dict[str, Numbers], Field(min_length=1)] = setting(
        {
            "life_time_factor": [0.25, 0.5, 1, 2, 4],
            "queues": [1, 2, 4, 6, 8, 10, 12],
            "history": [0, 0.5, 1, 2, 4, 8],
            "recall_first": [0, 1],
        },
        "MQ's own parameters and the values each takes, one at a time, on the server capture.",
        "Values around the paper's setting.",
        notes={
            "life_time_factor": "times the estimated peak temporal distance",
            "queues": "the paper: eight are enough",
            "history": "Qout, in multiples of the cache (the paper: 4)",
            "recall_first": "`1`: a miss looks its block up in Qout before it evicts; `0`: after (the paper's prose)",
        },
        block=True,
    )
    first_level: FirstLevel = setting(
        {"sizes_mb": [16, 32, 64, 128]},
        "Simulated first levels on the client's capture.",
        "Their misses drive the storage cache, so the ratio of the two levels' sizes varies on one workload.",
        block=True,
    )
    seed: int = setting(
        1,
        "Seed of the disks' service times in Figure 7's model.",
        "Service times are drawn only where the testbed says so.",
        ge=0,
    )

    @model_validator(mode="after")
    def check(self, info):
        """Check the policies, MQ's varied parameters, and the cache sizes of Tables 3 and 4 and of the fit."""
        for label in ("mq", "lru"):
            if label not in self.policies:
                raise SettingError(f"{label} is missing; add it, because Table 4 compares mq with lru", "policies")
            _check_compared(label, self.policies[label])
        for name, values in self.sensitivity.items():
            with at("sensitivity", name):
                check_policy("mq", None, {name: values})
        for key, sizes in (("cache_mb", self.cache_mb), ("table3_mb", [self.table3_mb])):
            missing = [f"{size:g}" for size in sizes if size not in self.table2_mb]
            if missing:
                raise SettingError(
                    f"{', '.join(missing)} MB {'is' if len(missing) == 1 else 'are'} not replayed; add"
                    f" {'it' if len(missing) == 1 else 'them'} to mq.table2_mb ({_listed(self.table2_mb)})",
                    key,
                )
        for fit in (info.context or {}).get("fits", ()):
            if fit.parameter == "database_cpu_us":
                _check_fit(fit, self.cache_mb)
        return self

    def check_captures(self, captures):
        """Check that every role names one of the captures, and that no capture has the name of the calibrated stream.

        Raises
        ------
        SettingError
            A role names none of the captures, server and client are the same, or a capture is called ``calibrated``.
        """
        if CALIBRATED in captures:
            raise SettingError(
                f"{CALIBRATED!r} is the name of the stream behind the calibrated first level; rename the capture",
                "captures",
                CALIBRATED,
            )
        if self.client == self.server:
            raise SettingError(
                f"{self.client!r} is also the server's capture; name another, because Figure 3 leaves out the client's",
                "mq",
                "client",
            )
        names = {part: getattr(self, part) for part in PARTS} | {"calibrated": self.calibrated.capture}
        if self.calibrated.shorter:
            names["calibrated.shorter"] = self.calibrated.shorter
        for part, name in names.items():
            if name not in captures:
                raise SettingError(
                    f"{name!r} is not a capture ({', '.join(captures)}){did_you_mean(name, captures)}; name one of "
                    "them, or add it to `captures`",
                    "mq",
                    part,
                )


def check_policy(policy, parameters=None, grid=None):
    """Check every combination of parameters that `misspenalty_studies.mq.runs.replay` would try.

    Raises
    ------
    ParameterError
        The policy or a parameter is unknown, or a value is invalid.
    """
    grid = grid or {}
    try:
        definition = find_policy(policy)
        for values in itertools.product(*grid.values()):
            definition.check({**(parameters or {}), **dict(zip(grid, values, strict=True))})
    except ParameterError as error:
        raise ParameterError(f"{error}; `misspenalty policies` lists all policies and their parameters") from error


def _check_compared(label, row):
    """Check that a row of Table 4 runs the policy that it is named after with the library's parameters, as other
    replays do."""
    definition = find_policy(row.policy)
    if definition.name != label or row.grid or definition.check(row.parameters or {}) != definition.check({}):
        raise SettingError(
            f"expected {label} with the library's parameters, because Figure 7 and the first levels run it with them; "
            "add a row with another label",
            "policies",
            label,
        )


def _listed(sizes):
    return ", ".join(f"{size:g}" for size in sizes)


def _check_fit(fit, sizes):
    """Check that the cache size of the fit is one of `sizes`, and not the smallest."""
    for cell in fit.published:
        fitted = cell["where"].get("cache_mb")
        if fitted is not None and (fitted not in sizes or fitted == min(sizes)):
            raise SettingError(
                f"{fit.parameter} is fitted to the rate with {fitted:g} MB relative to that with the smallest size; "
                f"add {f'{fitted:g} MB' if fitted not in sizes else 'a smaller size'} to {_listed(sizes)} MB",
                "cache_mb",
            )
