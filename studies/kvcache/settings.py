"""Define the settings of the kvcache study: the trace, the sizes of the two levels, and the policies."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from misspenalty.policies.registry import find_policy
from misspenalty_studies.common.settings import Distinct, Path, SettingError, Settings, at, setting

Tokens = Annotated[int, Field(ge=1, le=10**12)]
ALL = (
    "opt", "mq", "lirs", "arc", "car", "2q", "lru2", "lfru", "lrfu", "fbr", "lfu", "slru", "clock", "clockpro",
    "s3fifo", "sieve", "wtinylfu", "fifo", "lru", "mru", "random",
)  # fmt: skip


class KvcacheSettings(Settings):
    """Key-value caches of language models, FAST 2025."""

    trace: Path = setting(
        "data/raw/kvcache/conversation.jsonl.xz",
        "Trace of prompts, JSON lines as the Mooncake project releases them (format mooncake). The part of its name "
        "before the first dot and `_trace` is the workload: the paper's claims are judged on the workload "
        "`conversation` only, this project's own statements on any.",
    )
    timestamps: Literal["ms", "s"] = setting(
        "ms",
        "Unit of the timestamps; every prompt of the trace must have one.",
        "The Mooncake traces use milliseconds; other services release the same keys in seconds.",
    )
    block_tokens: int | None = setting(
        None,
        "Tokens per block of the trace; if left out, the size that explains the number of hashes of every prompt. "
        "Give it where a trace hashes more or less than the prompt.",
        ge=1,
    )
    stated_share: float = setting(
        0.5,
        "Share of the requests, from the first on, from which this project's own statements were made; they are judged "
        "on the rest, with caches that are not emptied in between. For another trace use 0, which judges them on "
        "all of it.",
        ge=0,
        lt=1,
    )
    policies: Distinct[str] = setting(
        list(ALL),
        "Policies of the cache, and of the second level.",
        "Only policies that need no neighbouring blocks, which hashed blocks do not have. Each has its own paper's "
        "parameters; none is tuned.",
    )
    cache_tokens: Distinct[Tokens] = setting(
        [10_000, 100_000, 512_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 5_120_000, 8_000_000,
         10_000_000, 15_000_000, 15_360_000, 25_000_000, 25_600_000, 50_000_000, 51_200_000, 100_000_000],
        "Sizes of a single cache, tokens.",
        "Those of the paper's Figure 9 up to the first that holds the whole trace, its local cache of 3 M tokens, two "
        "in between, and the 1,000 to 100,000 blocks of Table 1 of the report that preceded it (arXiv 2407.00079).",
    )  # fmt: skip
    first_level_tokens: Distinct[Tokens] = setting(
        [1_500_000, 5_120_000],
        "Sizes of the first level, LRU, tokens.",
        "About what fits into the memory of 8 A800 next to the weights (1.52 M by studies/kvcache/machine.yaml), and "
        "10,000 blocks of 512 tokens.",
    )
    second_level_tokens: Distinct[Tokens] = setting(
        [1_500_000, 3_000_000, 5_120_000, 10_000_000, 25_000_000, 50_000_000],
        "Sizes of the second level, tokens.",
        "As large as the first level, one server's memory (3 M), and up to the size that, according to the paper, "
        "comes close to the highest possible hit rate.",
    )
    seed: int = setting(1, "Seed of the random routing of requests to servers.", ge=0)

    @model_validator(mode="after")
    def check_policies(self):
        """Check that every policy exists and can run on hashes, and that LRU, which the claims need, is among them."""
        for name in self.policies:
            with at("policies"):
                if find_policy(name).spatial:
                    raise SettingError(
                        f"{name} uses neighbouring blocks, which hashed blocks do not have; leave it out"
                    )
        if "lru" not in self.policies:
            raise SettingError("lru is missing; add it, because the paper's capacities are those of LRU", "policies")
        return self
