"""Run the commands ``simulate`` and ``curve``."""

from pathlib import Path

import misspenalty
from misspenalty.cli import prompts
from misspenalty.cli.arguments import (
    add_command,
    add_list,
    add_replay_options,
    add_size_options,
    add_trace,
    open_warmed,
    parse_policies,
    plot_path,
    replay_settings,
    save_plot,
    share,
    whole_number,
)
from misspenalty.cli.output import Described, say
from misspenalty.cli.tables import curve_text, result_text
from misspenalty.errors import ParameterError
from misspenalty.io.later import pd
from misspenalty.policies import find_policy
from misspenalty.replay import summary
from misspenalty.replay.byte_bounds import NAMES as BOUNDS
from misspenalty.replay.cache_size import block_bytes_of, cache_sizes

SIZE = "blocks (65536), bytes with a unit (512MB) or a share of the footprint (5%%)"


def add(commands):
    """Add the commands to a parser."""
    simulate = add_command(
        commands,
        "simulate",
        "replay a trace with one or several policies at one cache size",
        _simulate,
        (
            "misspenalty simulate mine.spc --policy arc --size 512MB",
            "misspenalty simulate mine.spc --policy lru,mq,./mine.py:Mine --size 10%",
        ),
    )
    add_trace(simulate)
    simulate.add_argument("--size", required=True, help=f"cache size: {SIZE}")
    add_size_options(simulate)
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
            "misspenalty curve web.csv --policy lru,gdsf,opt --size 1%,64MB   objects, by bytes",
            "misspenalty curve prompts.jsonl --prefix --policy lru,arc --size 10%,500GB   prompts",
            "zcat mine.lis.gz | misspenalty curve - --size 128MB,256MB --policy ./mine.py:Mine",
        ),
    )
    add_trace(curve)
    add_list(curve, "--size", f"cache sizes: {SIZE}; all: every size (lru)")
    curve.add_argument(
        "--sample", metavar="SHARE", type=share, help="estimate from a share of the blocks, such as 0.01 or 1%%"
    )
    curve.add_argument(
        "--sample-seed", metavar="N", type=whole_number, help="seed that chooses the blocks of --sample (default: 0)"
    )
    curve.add_argument("--plot", metavar="FILE", type=Path, help="also draw the curves: a .png, .svg or .pdf")
    curve.add_argument(
        "--threads", metavar="N", type=whole_number, help="caches replayed in parallel (default: one per processor)"
    )
    curve.add_argument(
        "--prefix", action="store_true", help="TRACE holds prompts: a block is a hit only if all before it are"
    )
    add_size_options(curve)
    add_replay_options(curve)


def _simulate(options):
    policies = parse_policies(options.policy)
    settings = replay_settings(options, policies)
    trace, settings["warm_up"] = open_warmed(options)
    given = cache_sizes(trace, options.size.strip(), options.unit)
    (size,) = given.sizes
    settings |= {"unit": "bytes" if given.in_bytes else options.unit, "size_changes": options.size_changes}
    if len(policies) > 1 or (given.in_bytes and policies[0] == "opt"):
        table = misspenalty.simulate(trace, policies, size, **settings)
        if hint := only_writes(trace, table):
            say(hint)
        return Described(table, lambda wide: curve_text(table, given, offline(policies), wide))
    row = misspenalty.simulate(trace, policies[0], size, **settings).row()
    if hint := only_writes(trace, pd.DataFrame([row])):
        say(hint)
    return Described(row, lambda wide: result_text(row, given))


def offline(policies):
    """Return the names of the policies that use the future, and of the bounds."""
    return {find_policy(policy).name for policy in policies if find_policy(policy).offline} | set(BOUNDS)


def only_writes(trace, table):
    """Return a hint if all references of a trace are writes and none of them counts; None otherwise.

    Returns
    -------
    str or None
    """
    if (table["requests"] > 0).any() or trace.write is None or trace.reads:
        return None
    return (
        f"misspenalty: every reference of {trace.name} is a write, and none of them counts as a request:"
        " count them with --writes only"
    )


def _curve(options):
    if options.prefix:
        return prompts.curve(options)
    if options.sample_seed is not None and options.sample is None:
        raise ParameterError("--sample-seed chooses the blocks of a sample; set --sample as well")
    policies = parse_policies(options.policy)
    settings = replay_settings(options, policies)
    plot = None if options.plot is None else plot_path(options.plot, options.trace, options.warm_up)
    trace, settings["warm_up"] = open_warmed(options)
    every = options.size.strip().lower() == "all"
    if every and block_bytes_of(trace) is None and options.unit != "objects":
        raise ParameterError(
            f"--size all counts objects, but those of {trace.name} differ in size; name sizes in bytes, such as"
            " --size 1%,10%,64MB, or add --by-objects"
        )
    given = None if every else cache_sizes(trace, options.size.split(","), options.unit)
    table = misspenalty.hit_ratio_curve(
        trace,
        policies,
        None if given is None else given.sizes,
        unit="bytes" if given is not None and given.in_bytes else options.unit,
        size_changes=options.size_changes,
        threads=options.threads,
        sample=options.sample,
        sample_seed=options.sample_seed or 0,
        **settings,
    )
    if hint := only_writes(trace, table):
        say(hint)
    if plot:
        save_plot(table, plot)
    if given is None:
        return Described(table, lambda wide: summary.text(trace, table))
    return Described(table, lambda wide: curve_text(table, given, offline(policies), wide))
