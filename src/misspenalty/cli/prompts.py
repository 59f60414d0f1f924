"""Run ``curve --prefix`` and ``penalty --prefix`` on prompts of language models."""

import re

from misspenalty.cli.arguments import parse_policies, whole_number
from misspenalty.cli.output import Described
from misspenalty.cli.tables import render, with_sizes
from misspenalty.errors import ParameterError
from misspenalty.latency.prefill import Server, time_to_first_token
from misspenalty.replay.prefix import prefix_hit_ratio_curve, prefix_sizes
from misspenalty.traces.parts import SHARE
from misspenalty.traces.prompts import read_prompts


def curve(options):
    """Compute hit ratios of prefix caches, for the options of ``curve``."""
    _refuse(options, ("set", "prefetch", "sample", "plot", "select"))
    prompts, given = _opened(options)
    table = prefix_hit_ratio_curve(
        prompts,
        parse_policies(options.policy),
        given.sizes,
        warm_up=_warm_up(options, prompts),
        threads=options.threads,
    )
    return Described(
        table, lambda wide: render(with_sizes(table.drop(columns=[] if wide else ["prompts"]), given), wide)
    )


def penalty(options):
    """Compute times to first token, for the options of ``penalty``."""
    _refuse(options, ("set", "plot", "clients", "interval", "scheduler", "write_through"))
    prompts, given = _opened(options)
    table = time_to_first_token(
        prompts,
        parse_policies(options.policy),
        given.sizes,
        options.device.split(","),
        server=Server() if options.tflops is None else Server(tflops=options.tflops),
        warm_up=_warm_up(options, prompts),
    )
    return Described(table, lambda wide: render(with_sizes(table, given), wide))


def _refuse(options, names):
    for name in names:
        if getattr(options, name, None):
            raise ParameterError(f"--prefix cannot be combined with --{name.replace('_', '-')}")


def _opened(options):
    tokens = options.format_block_tokens
    prompts = read_prompts(options.trace, options.format_unit, None if tokens is None else whole_number(tokens))
    return prompts, prefix_sizes(prompts, options.size.split(","))


def _warm_up(options, prompts):
    """Return the number of prompts that warm up the cache; the option gives it as a number or a share."""
    if share := SHARE.fullmatch(options.warm_up):
        return int(float(share[1]) / 100 * len(prompts) + 0.5)
    if not re.fullmatch(r"[0-9]{1,18}", options.warm_up):
        raise ParameterError(f"warm-up is {options.warm_up!r}; with --prefix expected prompts (6000) or a share (50%)")
    return int(options.warm_up)
