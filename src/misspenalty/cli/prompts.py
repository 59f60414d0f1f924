"""Run ``curve --prefix`` and ``penalty --prefix`` on prompts of language models."""

import re

from misspenalty.cli.arguments import listed_names, parse_policies
from misspenalty.cli.completion import commands
from misspenalty.cli.output import Described
from misspenalty.cli.tables import render, with_sizes
from misspenalty.errors import ParameterError
from misspenalty.latency.prefill import Server, time_to_first_token
from misspenalty.replay.prefix import prefix_hit_ratio_curve, prefix_sizes
from misspenalty.traces.compression import check_path
from misspenalty.traces.parts import SHARE
from misspenalty.traces.prompts import read_prompts
from misspenalty.traces.quantities import share_of
from misspenalty.traces.readers.mooncake import whole_tokens
from misspenalty.traces.spool import spooled

# These options have an effect with --prefix: READ in both commands, CURVE in `curve`, and PENALTY in `penalty`.
READ = ("prefix", "policy", "size", "warm_up", "format", "format_unit", "format_block_tokens", "json", "csv", "wide")
CURVE = (*READ, "threads", "quiet")  # `quiet` has no effect, as there is no progress bar
PENALTY = (*READ, "device", "tflops")


def curve(options):
    """Compute hit ratios of prefix caches, for the options of ``curve``."""
    _refuse_others(options, "curve", CURVE)
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
    _refuse_others(options, "penalty", PENALTY)
    prompts, given = _opened(options)
    table = time_to_first_token(
        prompts,
        parse_policies(options.policy),
        given.sizes,
        listed_names("--device", options.device),
        server=Server() if options.tflops is None else Server(tflops=options.tflops),
        warm_up=_warm_up(options, prompts),
    )
    return Described(table, lambda wide: render(with_sizes(table, given), wide))


def _refuse_others(options, command, read):
    """Refuse every option of the command that is set, except those in `read`: it would have no effect."""
    given = vars(options)
    for action in dict(commands(options.whole))[command,]._actions:
        if not action.option_strings or action.dest in read or action.dest not in given:
            continue
        value = given[action.dest]
        if value != action.default and action.const in (None, value):  # options may share a destination
            raise ParameterError(f"--prefix cannot be combined with {action.option_strings[0]}; leave out one of them")


def _opened(options):
    if options.format is not None and options.format.lower() != "mooncake":
        raise ParameterError(f"--prefix reads prompts of the format mooncake; leave out --format {options.format}")
    with spooled(check_path(options.trace)) as (path, _):
        prompts = read_prompts(path, options.format_unit, whole_tokens(options.format_block_tokens))
    return prompts, prefix_sizes(prompts, options.size.split(","))


def _warm_up(options, prompts):
    """Return the number of prompts that warm up the cache; the option gives it as a number or a share."""
    if share := SHARE.fullmatch(options.warm_up):
        return share_of(share[1], len(prompts))
    if not re.fullmatch(r"\s*[0-9]{1,18}\s*", options.warm_up):
        raise ParameterError(
            f"warm-up is {options.warm_up!r}; with --prefix, expected a number of prompts (6000) or a share (50%)"
        )
    return int(options.warm_up)
