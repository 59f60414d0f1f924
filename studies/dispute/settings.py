"""Define the settings of the dispute study: the traces that are replayed, and the cache sizes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from misspenalty_studies.common import settings
from misspenalty_studies.common.settings import Distinct, Name, Settings, setting
from misspenalty_studies.common.settings.types import InnerShare

ARC = {"format": "arc", "kind": "block"}
LIRS = {"format": "lirs", "kind": "block"}
TRACES = {
    **{name.lower(): {"file": f"arc/{name}.lis.zst", **ARC} for name in ("OLTP", "P3", "P6")},
    **{name: {"file": f"lirs/{name}.trace.gz", **LIRS} for name in ("cpp", "cs", "gli", "multi2", "sprite")},
    "2-pools": {"file": "lirs/2_pools.trace.gz", "format": "lirs", "kind": "generated"},
    "loop": {"file": "lirs/loop.trace.gz", "format": "lirs", "kind": "generated"},
    "zipf": {"file": "dispute/zipf_1.0", "format": "lirs", "kind": "generated"},
    "cloudphysics": {"file": "vscsi/cloudPhysicsIO.vscsi", "format": "vscsi", "kind": "block"},
    "orm-busy": {"file": "objects/orm-busy.trace.xz", "format": "u32be", "kind": "web"},
    "web12": {"file": "objects/web12.trace.xz", "format": "u32be", "kind": "web"},
    "scarab": {"file": "extras/scarab_scarab-recs.trace.xz", "format": "u64be", "kind": "web"},
    "corda": {"file": "extras/corda_trace_vaultservice.gz", "format": "u64be", "kind": "other"},
    "conversation": {"file": "data/raw/kvcache/conversation.jsonl.xz", "format": "mooncake", "kind": "other"},
    **{f"tpcc-{name}": {"file": f"data/raw/tpcc/{name}.parquet", "kind": "block"} for name in ("128mb", "16mb", "2mb")},
    **{
        f"build-{name}": {"file": f"data/raw/builds/{name}.parquet", "kind": "block"}
        for name in ("andrew", "ld", "glimpse", "ssh")
    },
}


class ReplayedTrace(Settings):
    """A trace that is replayed."""

    one_row: ClassVar[bool] = True

    file: settings.Path = setting(what="A key of data/external.yaml, or the path of a file.")
    format: str | None = setting(None, "Its format, if not evident from the file; see `misspenalty trace formats`.")
    kind: Literal["block", "web", "generated", "other"] = setting(
        what="Origin. `block`: requests for blocks or pages of storage; `web`: requests for objects of web "
        "applications; `generated`: requests made up by a program; `other`: anything else."
    )


class DisputeSettings(Settings):
    """S3-FIFO, SOSP 2023, and SIEVE, NSDI 2024."""

    traces: Annotated[dict[Name, ReplayedTrace], Field(min_length=1)] = setting(
        TRACES,
        "Traces that are replayed, by names that become part of file names.",
        "The real traces that the project ships or registers, and three generated ones. Further recordings of the same "
        "workloads (2mb-long and andrew_gnu) and the sample of the delayed-hits study are left out.",
        block=True,
    )
    size_ratios: Distinct[InnerShare] = setting(
        [0.001, 0.01, 0.1],
        "Cache sizes, as shares of the distinct blocks of a trace.",
        "Both papers use 0.1 and 10 %; 1 % lies in between. Caches of fewer than ten blocks are left out.",
    )
