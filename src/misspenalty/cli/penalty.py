"""Run the command ``penalty``: simulate response times and print them."""

from pathlib import Path

import misspenalty
from misspenalty import disks
from misspenalty.cli import prompts
from misspenalty.cli.arguments import (
    add_command,
    add_format_options,
    add_list,
    add_policy_options,
    add_size_options,
    add_trace,
    listed_names,
    number,
    open_warmed,
    parse_policies,
    plot_path,
    policy_settings,
    save_plot,
    whole_number,
)
from misspenalty.cli.output import Described, say
from misspenalty.cli.tables import penalty_text
from misspenalty.errors import ParameterError
from misspenalty.replay.cache_size import cache_sizes

EXAMPLES = (
    "misspenalty penalty mine.spc --policy arc,lru --size 1GB,4GB --device cheetah9lp,dc_p3700,5ms",
    "misspenalty penalty mine.spc --size 64MB --device ultrastar_146z10 --scheduler sptf --speed 0.5",
    "misspenalty penalty mine.spc --policy lru --size 64MB --device dc_s3700 --clients 16",
    "misspenalty penalty prompts.jsonl --prefix --policy lru,opt --size 500GB --device dram,ssd",
    "misspenalty penalty mine.spc --policy lru,./mine.py:Mine --size 1%,10% --device dc_p3700",
)


def add(commands):
    """Add the command to a parser."""
    what = "simulate the response times of a trace through cache, queue and device"
    command = add_command(commands, "penalty", what, _penalty, EXAMPLES)
    add_trace(command)
    add_policy_options(command)
    add_list(command, "--size", "cache sizes: blocks, bytes with a unit, or shares (5%%)")
    add_list(command, "--device", "drives (see 'misspenalty disk list'), files, or times (5ms)")
    command.add_argument(
        "--prefix",
        action="store_true",
        help="time to first token of prompts, one at a time; --device is dram, remote, ssd or a bandwidth (25GB/s)",
    )
    command.add_argument(
        "--tflops", type=number, metavar="N", help="with --prefix, speed of all GPUs together (default: 2496, 8 A800)"
    )
    command.add_argument(
        "--clients", type=whole_number, metavar="N", help="closed loop of N clients, each waiting for its request"
    )
    command.add_argument("--think", default="0us", metavar="TIME", help="think time between requests (default: 0us)")
    command.add_argument("--speed", type=number, default=1.0, help="speed-up of the trace's times (default: 1)")
    command.add_argument("--interval", metavar="TIME", help="time between requests, instead of the trace's times")
    command.add_argument("--scheduler", help="order of a disk's queue: fcfs, sstf, look, clook, sptf (default: fcfs)")
    command.add_argument(
        "--hit-time", default="0us", metavar="TIME", help="time of each request in the cache (default: 0us)"
    )
    command.add_argument(
        "--writes", choices=("count", "ignore"), default="count", help="how the cache treats a write (default: count)"
    )
    command.add_argument("--write-through", action="store_true", help="writes also go to the device")
    command.add_argument(
        "--threads", metavar="N", type=whole_number, help="replays in parallel (default: one per processor)"
    )
    command.add_argument(
        "--plot", metavar="FILE", type=Path, help="also draw mean response times: a .png, .svg or .pdf"
    )
    add_size_options(command)
    add_format_options(command)


QUEUED = 0.9  # a device is overrun if fetches spend more than this share of their time in its queue


def overrun(table):
    """Return a hint if requests arrive faster than a device serves them, so that response times depend on trace length.

    Returns
    -------
    str or None
    """
    service = table[[f"{part}_us" for part in disks.COMPONENTS if part != "queue"]].sum(axis=1)
    waiting = (table["load"] == "open") & (table["queue_us"] > QUEUED * (table["queue_us"] + service))
    if not waiting.any():
        return None
    devices = list(dict.fromkeys(table.loc[waiting, "device"]))
    serve, queue = ("serves", "its queue") if len(devices) == 1 else ("serve", "their queues")
    return (
        f"misspenalty: requests arrive faster than {', '.join(devices)} {serve} them; nearly all the time of fetches is"
        f" spent in {queue}, and grows with the trace: slow the trace (--speed 0.1), close the loop (--clients 16), or"
        " choose a faster device"
    )


def untimed(trace):
    """Return a hint if all references of a trace are writes, which have no response times; None otherwise.

    Returns
    -------
    str or None
    """
    if trace.write is None or trace.reads:
        return None
    return (
        f"misspenalty: every reference of {trace.name} is a write, which the cache absorbs, so that no response time"
        " is measured"
    )


def _penalty(options):
    if options.prefix:
        return prompts.penalty(options)
    if options.tflops is not None:
        raise ParameterError("--tflops is the speed of the GPUs that compute prompts; set --prefix as well")
    policies = parse_policies(options.policy)
    settings = policy_settings(options, policies, misspenalty.penalty)
    devices = listed_names("--device", options.device)
    read = (options.trace, options.warm_up, *devices)
    plot = None if options.plot is None else plot_path(options.plot, *read)
    trace, warm = open_warmed(options)
    given = cache_sizes(trace, options.size.split(","), options.unit)
    table = misspenalty.penalty(
        trace,
        policies,
        given.sizes,
        devices,
        unit="bytes" if given.in_bytes else options.unit,
        size_changes=options.size_changes,
        clients=options.clients,
        think=options.think,
        speed=options.speed,
        interval=options.interval,
        scheduler=options.scheduler,
        hit_time=options.hit_time,
        writes=options.writes,
        write_through=options.write_through,
        warm_up=warm,
        threads=options.threads,
        **settings,
    )
    for hint in (untimed(trace), overrun(table)):
        if hint:
            say(hint)
    if plot:
        save_plot(table, plot)
    return Described(table, lambda wide: penalty_text(table, given, wide))
