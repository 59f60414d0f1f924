"""The command line's ``simulate`` and ``curve``."""

from pathlib import Path

import misspenalty
from misspenalty.cli.arguments import (
    add_command,
    add_replay_options,
    add_trace,
    number,
    open_warmed,
    parse_byte_size,
    parse_policies,
    parse_size,
    parse_sizes,
    plot_path,
    replay_settings,
    whole_number,
)
from misspenalty.cli.output import Described
from misspenalty.errors import ParameterError
from misspenalty.replay import summary

SIZE = "blocks (65536), bytes with a unit (512MB) or a share of the footprint (5%%)"


def add(commands):
    """Add the commands to a parser."""
    simulate = add_command(
        commands,
        "simulate",
        "replay a trace through one cache",
        _simulate,
        (
            "misspenalty simulate mine.spc --policy arc --size 512MB",
            "misspenalty simulate mine.spc --policy lru,mq,./mine.py:Mine --size 10%",
        ),
    )
    add_trace(simulate)
    simulate.add_argument("--size", required=True, help=f"cache size: {SIZE}")
    add_replay_options(simulate)

    curve = add_command(
        commands,
        "curve",
        "compare policies at several cache sizes",
        _curve,
        (
            "misspenalty curve mine.spc --policy lru,arc,mq,opt --size 1%,5%,10%,1GB --plot mine.png",
            "misspenalty curve mine.spc --size all                  LRU's knees, and shares of the footprint",
            "misspenalty curve mine.spc --size all --csv > all.csv  the whole curve",
            "misspenalty curve web.csv --by-bytes --policy lru,sieve --size 1%,64MB  objects of different sizes",
            "zcat mine.lis.gz | misspenalty curve - --size 128MB,256MB --policy ./mine.py:Mine",
        ),
    )
    add_trace(curve)
    curve.add_argument("--size", required=True, metavar="A,B,…", help=f"cache sizes: {SIZE}; all: every size (lru)")
    curve.add_argument(
        "--sample",
        metavar="SHARE",
        type=number,
        help="estimate from this share of the blocks, such as 0.01, with error bars",
    )
    curve.add_argument(
        "--sample-seed", metavar="N", type=whole_number, help="seed that chooses the blocks of --sample (default: 0)"
    )
    curve.add_argument(
        "--by-bytes",
        action="store_true",
        help="objects take as many bytes as the trace says: byte hit ratios, for fifo, lru, clock and sieve",
    )
    curve.add_argument("--plot", metavar="FILE", type=Path, help="also draw the curves: a .png, .svg or .pdf")
    curve.add_argument(
        "--threads", metavar="N", type=whole_number, help="caches replayed in parallel (default: one per processor)"
    )
    add_replay_options(curve)


def _simulate(options):
    policies = parse_policies(options.policy)
    settings = replay_settings(options, policies)
    trace, settings["warm_up"] = open_warmed(options)
    size = parse_size(options.size, trace.block_bytes, trace.blocks)
    if len(policies) > 1:
        return misspenalty.simulate(trace, policies, size, **settings)
    return misspenalty.simulate(trace, policies[0], size, **settings).row()


def _by_bytes(options):
    if options.set or options.prefetch or options.sample or options.sample_seed or options.plot:
        raise ParameterError("--by-bytes cannot be combined with --set, --prefetch, --sample, --sample-seed or --plot")
    names = [name.strip() for name in options.policy.split(",")]
    trace, warm = open_warmed(options)
    sizes = [parse_byte_size(size, trace.footprint_bytes) for size in options.size.split(",")]
    return misspenalty.byte_hit_ratio_curve(
        trace, names, sizes, writes=options.writes, warm_up=warm, threads=options.threads
    )


def _curve(options):
    if options.by_bytes:
        return _by_bytes(options)
    if options.sample_seed is not None and options.sample is None:
        raise ParameterError("--sample-seed chooses the blocks of a sample; set --sample as well")
    policies = parse_policies(options.policy)
    settings = replay_settings(options, policies)
    plot = None if options.plot is None else plot_path(options.plot, options.trace, options.warm_up)
    trace, settings["warm_up"] = open_warmed(options)
    every = options.size.strip().lower() == "all"
    table = misspenalty.hit_ratio_curve(
        trace,
        policies,
        None if every else parse_sizes(options.size, trace),
        threads=options.threads,
        sample=options.sample,
        sample_seed=options.sample_seed or 0,
        **settings,
    )
    if plot:
        # Matplotlib takes longer to import than most curves to compute.
        from misspenalty.plotting import curve, save_figure

        figure = curve.hit_ratio(table, trace.block_bytes, curve.title(trace))
        save_figure(figure, plot.with_suffix(""), [plot.suffix[1:]])
    return Described(table, summary.text(trace, table)) if every else table
