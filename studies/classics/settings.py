"""Define the settings of the classics study: traces, sizes, and the grids of the policies that ARC's authors tuned."""

from dataclasses import dataclass, field

TABLE_1 = (1000, 2000, 5000, 10000, 15000)  # pages
POWERS = (1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144)  # pages
SIMPLE = ("lru", "opt", "arc", "lirs", "car", "clock", "clockpro")


@dataclass(frozen=True)
class Row:
    """One policy with its parameters, or a grid of them whose combinations are all replayed."""

    policy: str
    parameters: dict = field(default_factory=dict)
    grid: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Replays:
    """The replays of one trace.

    `rows` are labels of `ROWS`; `more_sizes` are cache sizes, in blocks, at which only LRU is replayed.
    """

    cache_blocks: tuple
    rows: tuple
    more_sizes: tuple = ()
    fixed_split: tuple = ()  # cache sizes, in blocks, at which ARC's split is held fixed
    program: bool = False  # whether the LIRS2 authors' program has been run on this trace


ROWS = {
    **{name: Row(policy=name) for name in (*SIMPLE, "mq", "fbr", "lfu")},
    # ARC's paper does not print the size of MQ's history. In "mq" it is four times the cache, as in MQ's own paper; the
    # next three rows are for conditions.
    "mq_history_0": Row(policy="mq", parameters={"history": 0}),
    "mq_history_1": Row(policy="mq", parameters={"history": 1}),
    "mq_fixed": Row(policy="mq", parameters={"history": 1, "life_time": 500}),
    "lfu_history": Row(policy="lfu", parameters={"history": 1000}),
    # This row shows how much LIRS's misses on sprite depend on the share of the cache for HIR blocks.
    "lirs_shares": Row(policy="lirs", grid={"hirs": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)}),
    # Both parameters of the full version of 2Q are varied. Grids are wide enough to contain the best values.
    "2q": Row(policy="2q", grid={"kin": (0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5), "kout": (0.25, 0.5, 0.75, 1, 2)}),
    "lrfu": Row(
        policy="lrfu",
        grid={
            "lam": (1e-7, 1e-6, 3e-6, 1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 2e-4, 3e-4, 1e-3),
            "correlated_period": (0, 100, 200, 500, 1000, 2000, 3000, 5000, 7000, 10000, 20000, 50000),
        },
    ),
    # The LRU-K paper leaves the correlated reference period to the user.
    "lru2": Row(
        policy="lru2",
        grid={
            "correlated_period": (
                0, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000, 20000, 50000,
            )
        },
    ),
    "lru2_history_0": Row(
        policy="lru2",
        parameters={"history": 0},
        grid={"correlated_period": (0, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000)},
    ),
}  # fmt: skip

TRACES = {
    "OLTP": Replays(
        cache_blocks=TABLE_1,
        rows=tuple(name for name in ROWS if name != "lirs_shares"),
        more_sizes=(250, 500, 750, 1250, 1500, 1750),
    ),
    **{name: Replays(cache_blocks=POWERS, rows=("lru", "opt", "arc", "car", "clock"), fixed_split=(32768,))
       for name in ("P3", "P6")},
    **{
        name: Replays(
            cache_blocks=sizes,
            rows=(*SIMPLE, "lirs_shares") if name == "sprite" else SIMPLE,
            more_sizes=more,
            program=True,
        )
        for name, sizes, more in (
            ("2_pools", (60, 80, 100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 450), ()),
            ("cpp", (20, 35, 50, 80, 100, 200, 300, 400, 500, 600, 700, 800, 900), ()),
            ("cs", (30, 60, *range(100, 1401, 100)), ()),
            ("gli", (30, 60, *range(100, 2401, 100)), (250, 750, 1250, 1750)),
            ("loop", (64, 128, 256, 384, 512, 640, 768, 896, 960, 1024), ()),
            ("multi2", (100, *range(200, 2001, 200)), ()),
            ("sprite", tuple(range(100, 1001, 100)), ()),
        )
    },
}  # fmt: skip

FILES = {
    **{name: f"arc/{name}.lis.zst" for name in ("OLTP", "P3", "P6")},
    **{name: f"lirs/{name}.trace.gz" for name in TRACES if name not in ("OLTP", "P3", "P6")},
}

FIXED_SPLIT_TARGETS = tuple(n / 100 for n in range(101))
