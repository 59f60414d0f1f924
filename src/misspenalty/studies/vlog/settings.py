"""Checks of the virtual-log study's block of the configuration that a schema cannot make."""

from misspenalty.disks.virtual_log.log import capacity, physical_blocks
from misspenalty.errors import ParameterError
from misspenalty.studies.vlog.gap import short_switch_ms
from misspenalty.studies.vlog.runs import Workload, make_platforms
from misspenalty.systems.file_systems.disk_client import BLOCK
from misspenalty.systems.file_systems.hosts import load_hosts
from misspenalty.systems.file_systems.lfs import RESERVE, SEGMENT


def check_settings(settings, hosts):
    """Stop where a platform cannot be, or a file does not fit.

    Parameters
    ----------
    settings : dict
        The block ``vlog`` of the configuration, defaults filled in.
    hosts : path-like
        ``vlog_hosts.yaml``.

    Raises
    ------
    ParameterError
        A key of the block has an impossible value; the message names it.
    InputError
        A drive or the hosts' file cannot be read.
    """
    platforms = make_platforms(settings["platforms"], load_hosts(hosts))
    workload = Workload(**settings["workload"])
    for key in ("files_on", "bursts_on"):
        unknown = sorted(set(settings[key]) - set(platforms))
        if unknown:
            raise ParameterError(f"vlog.{key}: no platform called {unknown[0]}; expected {', '.join(platforms)}")
    for label, platform in platforms.items():
        short_switch_ms(platform.kind)
        blocks, most = physical_blocks(platform.kind), capacity(platform.kind)
        live = int(workload.utilisation * blocks)
        if live > most:
            raise ParameterError(
                f"vlog.workload.utilisation: {live} blocks; the virtual log on {label} has room for {most}"
            )
        if label in settings["files_on"] and settings["large_file_mb"] * 2**20 // BLOCK > 0.8 * most:
            raise ParameterError(f"vlog.large_file_mb: the file does not fit the disk of {label}")
        if label in {*settings["files_on"], *settings["bursts_on"]} and blocks < (RESERVE + 4) * SEGMENT:
            raise ParameterError(f"vlog.platforms.{label}: too few cylinders for a log-structured disk")
