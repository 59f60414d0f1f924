"""Estimate the hit ratio of any policy from a sample of the blocks, with a small cache that sees only the sample.

C. A. Waldspurger, T. Saemundsson, I. Ahmad, N. Park, "Cache modeling and optimization using miniature simulations",
USENIX ATC 2017: a cache of R times the size, given the references to a share R of the blocks, has about the hit ratio
of the full cache on the whole trace. Deviations: the sample and its error bar are those of
`misspenalty.replay.sampling`; the hit ratio is adjusted as for LRU (SHARDS-adj), so that LRU's estimate equals that of
`lru_curve`; a parameter that counts accesses is scaled with the sample; for a policy that looks at neighbours, groups
of 32 adjacent addresses are sampled together.

The error bar covers the choice of the blocks, and those effects of scale that already show in a cache of an eighth of
the size. Dependence on absolute numbers may add a bias: MQ takes its lifeTime from the fullest of several power-of-two
bins, which may be a different bin in a sample; this changes the hit ratio on the trace OLTP by three points. ARC keeps
either all of a loop that barely fits or none of it, and the outcome depends on scale: if a tenth of the references are
random, and the cache is within 2 % of the size above which it keeps the loop, the estimate from a sample of a hundredth
is off by more than two error bars in about half of the cases.

Each of the eight parts has a cache of an eighth of the size of the sample's cache. If these caches hold only a few
blocks, both the estimate and its error bar are rough: a size should be at least 100 / R blocks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from misspenalty.io.later import pd
from misspenalty.io.threads import Job
from misspenalty.policies.registry import Definition
from misspenalty.replay.result import Result
from misspenalty.replay.sampling import GROUP, Piece, Sample, check_counted, choose, error_bar, estimated, scaled
from misspenalty.traces.selection import counted_requests
from misspenalty.traces.trace import Trace


class Miniatures:
    """Small caches on one sample of a trace.

    Parameters
    ----------
    trace, writes, warm_up
        As in `misspenalty.simulate`.
    rate, seed
        From `misspenalty.replay.sampling.check_sample`.
    replay : callable
        ``replay(piece, definition, blocks, writes, parameters)`` replays a piece of the trace through one cache.
    """

    def __init__(
        self, trace: Trace, writes: str, warm_up: int, rate: float, seed: int, replay: Callable[..., Result]
    ) -> None:
        self.trace, self.writes, self.warm_up, self.rate, self.seed = trace, writes, warm_up, rate, seed
        self.replay = replay
        self.samples: dict[bool, Sample] = {}
        self.requests = counted_requests(trace, writes, warm_up)

    def sample(self, spatial: bool) -> Sample:
        """Return the sample or, if `spatial`, one that keeps neighbours together; each is built only once."""
        if spatial not in self.samples:
            choice = choose(self.trace.address, self.rate, self.seed, GROUP if spatial else 0)
            sample = Sample.of(self.trace, choice, self.warm_up)
            counted = counted_requests(sample.whole.trace, self.writes, sample.whole.warm_up)
            check_counted(counted, self.rate, self.requests)
            self.samples[spatial] = sample
        return self.samples[spatial]

    def job(self, definition: Definition, size: int, parameters: dict[str, Any], cold: int) -> Job:
        """Return a job for `misspenalty.io.threads.in_threads` that estimates one policy at one size."""
        return functools.partial(self._estimate, self.sample(definition.spatial), definition, size, parameters, cold)

    def _estimate(
        self,
        sample: Sample,
        definition: Definition,
        size: int,
        parameters: dict[str, Any],
        cold: int,
        advance: Callable[[int], Any],
    ) -> pd.DataFrame:
        """Estimate one row of `hit_ratio_curve`; `size` and `parameters` are those for the whole trace."""
        requests = self.requests

        def run(piece: Piece, rate: float | None = None) -> Result | None:
            """Replay a piece with a cache scaled by its rate, or by `rate`; return None if all of it is warm-up."""
            if not len(piece.trace) > piece.warm_up:
                return None
            blocks, own = int(scaled(size, rate or piece.rate)), definition.in_sample(parameters, piece.rate)
            return self.replay(piece, definition, blocks, self.writes, own)

        def ratio(piece: Piece, result: Result | None) -> float:
            return float(estimated(result.misses if result else 0, piece.rate, requests))

        whole = run(sample.whole)
        uncut = ratio(sample.whole, whole)
        found = min(max(uncut, 0.0), 1.0)
        hits = round(found * requests)
        rate = sample.whole.rate
        others = [ratio(piece, run(piece)) for piece in sample.parts]
        at_own_rate = ratio(sample.whole, run(sample.whole, sample.own_rate))
        advance(len(self.trace))
        counts = (whole.evictions, whole.ghost_hits, whole.total_evictions) if whole else (0, 0, 0)
        evictions, ghost_hits, total = (round(count / rate) for count in counts)
        row = Result(definition.name, size, requests, hits, cold, evictions, ghost_hits).row() | {
            "hit_ratio": found if requests else float("nan"),
            "total_evictions": total,
            "hit_ratio_error": error_bar(uncut, others, at_own_rate) if requests else float("nan"),
        }
        return pd.DataFrame([row])
