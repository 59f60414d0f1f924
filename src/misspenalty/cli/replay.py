"""The command line's ``simulate`` and ``curve``."""

from pathlib import Path

import misspenalty
from misspenalty.cli.arguments import add_command, add_replay_options, open_named, parse_size, replay_settings
from misspenalty.errors import ParameterError

PLOTS = ("png", "svg", "pdf")


def add(commands):
    """Add the commands to a parser's."""
    simulate = add_command(commands, "simulate", "replay a trace through one cache", _simulate)
    simulate.add_argument("trace", metavar="TRACE", help="a raw or compiled trace")
    simulate.add_argument("--size", required=True, help="cache size: blocks, or bytes with a unit (512MB)")
    add_replay_options(simulate)

    curve = add_command(commands, "curve", "replay a trace through caches of several sizes", _curve)
    curve.add_argument("trace", metavar="TRACE", help="a raw or compiled trace")
    curve.add_argument(
        "--size",
        required=True,
        help="cache sizes A,B,…: blocks, or bytes with a unit (128MB,256MB); all: every size (lru)",
    )
    curve.add_argument(
        "--sample", metavar="SHARE", type=float, help="estimate from this share of the blocks, such as 0.01 (lru)"
    )
    curve.add_argument("--sample-seed", metavar="N", type=int, default=0, help="chooses the blocks (default: 0)")
    curve.add_argument("--plot", metavar="FILE", type=Path, help="also draw the curve: a .png, .svg or .pdf")
    curve.add_argument("--threads", type=int, help="sizes replayed at a time (default: one a processor)")
    add_replay_options(curve)


def _simulate(options):
    trace = open_named(options)
    result = misspenalty.simulate(
        trace, options.policy, parse_size(options.size, trace.block_bytes), **replay_settings(options)
    )
    return result.row()


def _curve(options):
    if options.plot and options.plot.suffix[1:] not in PLOTS:
        raise ParameterError(f"--plot {options.plot}; expected a name that ends in {', '.join(PLOTS)}")
    trace = open_named(options)
    every = options.size.strip().lower() == "all"
    sizes = None if every else [parse_size(size, trace.block_bytes) for size in options.size.split(",")]
    table = misspenalty.hit_ratio_curve(
        trace,
        options.policy,
        sizes,
        threads=options.threads,
        sample=options.sample,
        sample_seed=options.sample_seed,
        **replay_settings(options),
    )
    if options.plot:
        # Matplotlib takes longer to import than most curves to compute.
        from misspenalty.plotting import curve, save_figure

        save_figure(curve.hit_ratio(table, trace.block_bytes), options.plot.with_suffix(""), [options.plot.suffix[1:]])
    return table
