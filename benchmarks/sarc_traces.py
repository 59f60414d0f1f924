"""Compare SARC, LRU Top, LRU Bottom and other policies behind the same sequential prefetcher, on captured traces.

The traces are those shared with the papers' peers, looked for where the tests look. Addresses are taken in pages of
4 KB and tracks of eight; every referenced page is one request, with reads and writes as recorded. Caches hold 1, 5 and
20 % of the pages referenced. A row gives the hit ratio of the reads and the tracks staged per read, which is the
cost of prefetching. Block numbers without a size (the LIRS and ARC traces) count as pages.

    python benchmarks/sarc_traces.py
    python benchmarks/sarc_traces.py --traces postmark,websearch --policies sarc,lru_top --csv out.csv
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import open_trace
from misspenalty.io.files import write_csv
from misspenalty.policies import known_policies
from misspenalty.policies.track_layout import places
from misspenalty.prefetch.sequential.prefetcher import track_cache

FOLDER = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", Path(__file__).parents[2] / "shared" / "traces"))
TRACES = {
    "postmark": ("disksim/ssd-postmark-aligned2.trace", 4096),
    "cloudphysics": ("vscsi/cloudPhysicsIO.vscsi", 4096),
    "websearch": ("spc/websearch-small.spc", 4096),
    "disks14": ("disksim/ascii.trace", 4096),
    "oltp": ("arc/OLTP.lis.zst", None),
    "p3": ("arc/P3.lis.zst", None),
    "p6": ("arc/P6.lis.zst", None),
    "multi2": ("lirs/multi2.trace.gz", None),
}
TRACK = 8  # pages
SHARES = (0.01, 0.05, 0.2)  # shares of the pages referenced
PREFETCH = {"degree": 8, "trigger": 4, "threshold": 3}
POLICIES = "sarc,lru_top,lru_bottom,arc,lirs,mq,s3fifo"


def pages_of(trace):
    """Place pages on a line of tracks that keeps neighbours; return each reference's page, and the number of tracks."""
    tracks, which = np.unique(trace.address // np.uint64(TRACK), return_inverse=True)
    place, length = places(tracks, 2 * PREFETCH["degree"])
    page = place[which].astype(np.int64) * TRACK + (trace.address % np.uint64(TRACK)).astype(np.int64)
    return page[trace.ids], length


def measure(name, policies):
    """Yield one row per cache and policy."""
    path, block_bytes = TRACES[name]
    trace = open_trace(FOLDER / path, block_bytes=block_bytes)
    page, tracks = pages_of(trace)
    write = np.zeros(page.size, np.uint8) if trace.write is None else np.asarray(trace.write).view(np.uint8)
    one, hit, reads = np.ones(page.size, np.int32), np.empty(page.size, np.uint8), trace.reads
    for share in SHARES:
        capacity = max(int(share * trace.blocks), 16 * TRACK)
        for policy in policies:
            cache = track_cache(policy, capacity, tracks, track_pages=TRACK, prefetch=PREFETCH)
            cache.replay_pages(page, one, write, hit)
            yield {
                "trace": name,
                "cache_pages": capacity,
                "policy": policy,
                "reads": reads,
                "read_hit_ratio": hit[write == 0].mean(),
                "tracks_staged_per_read": sum(cache.tracks_staged) / reads,
                "prefetches_unused": cache.unused,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", default=",".join(TRACES), help="comma separated (default: all)")
    parser.add_argument("--policies", default=POLICIES, help="comma separated (default %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table there")
    args = parser.parse_args()
    names, policies = args.traces.split(","), args.policies.split(",")
    if unknown := (set(names) - set(TRACES)) | (set(policies) - set(known_policies())):
        parser.error(f"unknown {', '.join(sorted(unknown))}; traces: {', '.join(TRACES)}")
    if not FOLDER.is_dir():
        sys.exit(f"{FOLDER} is missing; set MISSPENALTY_SHARED_TRACES to the folder of the shared traces")
    table = pd.DataFrame(row for name in names for row in measure(name, policies))
    for value in ("read_hit_ratio", "tracks_staged_per_read"):
        wide = table.pivot(index=["trace", "cache_pages"], columns="policy", values=value)[policies]
        print(f"{value}\n{wide.to_string(float_format='{:.4f}'.format)}\n")
    if args.csv:
        write_csv(table, args.csv)


if __name__ == "__main__":
    main()
