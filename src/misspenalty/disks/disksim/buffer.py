"""Describe how a drive with ``disksim_buffer`` follows DiskSim 4.0's code, function by function.

The code is ``src/disksim_diskctlr.c``, ``src/disksim_diskcache.c`` and ``diskmodel/mech_g1.c`` of the published
DiskSim 4.0 whose answers are in the shared reference data (GitHub repository westerndigitalcorporation/DiskSim, folder
``STABLE/DiskSim_Linux_Generic_2.01.016``). ``benchmarks/disksim.py`` reports how many of those answers it reproduces.

``disk_buffer_select_read_segment``
    A read uses the segment that holds all its blocks, else one that holds its first block; of several, the one used
    longest ago. A drive without ``disksim_buffer`` uses the one that holds most of its blocks.
``disk_buffer_select_write_segment``
    A write uses a segment that it overlaps, else an empty one, else the one used longest ago, never one that is being
    read ahead into: a drive with a single segment leaves the bus first. No segment is kept apart for writes.
``disk_buffer_set_segment``
    Blocks that a write overwrites are lost, except those in a segment that is being read ahead into.
``disk_release_hda``
    A segment is empty after its write if written blocks cannot be read.
``disk_buffer_block_available, disk_buffer_update_outbuffer``
    Read-ahead overwrites no block that the current read has yet to send: the sector passes unread, and comes round
    again a revolution later.
``disk_buffer_attempt_seg_ownership``
    The end of read-ahead is never moved back, and a full hit moves it on even after read-ahead has stopped.
``disk_buffer_get_max_readahead``
    The track that read-ahead may go on for is as long as the one that the request begins on.
``disk_buffer_stopable_access``
    Read-ahead stops at the end of a sector, which is not kept, at the end of a seek, or before the first sector of a
    track.
``disk_check_hda``
    The time to stop is added to the time of the command; on a drive without ``disksim_buffer`` both pass together.
``disk_read_arrive, disk_write_arrive``
    A command that arrives while the arm writes behind leaves the bus. Its segment is chosen, and the bus taken up
    again, when the arm is free.
``disk_buffer_request_complete, disk_release_hda``
    A write that continues the one in progress is written with it as far as its data is there, and then once more by
    itself. A third one waits until both are written.
``disk_buffer_sector_done``
    A write in any order writes sectors as they pass if their data is there.
``disk_buffer_select_segment``
    The extra disconnects of writes do not happen: the lines that mark them are commented out.
``dm_rottime_g1, dm_rotate_g1``
    A sector takes whole 2^-20 of a revolution, and each that passes leaves the platter 2^-24 of a revolution behind.

Sectors that pass before a read's first one are not kept in any of the answers, whatever ``read_free_blocks`` says.

Two things are not modelled. On a drive that reads in any order (Atlas 10K), read-ahead that lands within a track keeps
sectors from there on, and gives up blocks at the segment's front for them (``immedstart`` and ``immedend`` of
``disk_buffer_sector_done``, ``disk_buffer_segment_wrap``). Which sector it begins with depends on the track's skew, of
which DiskSim subtracts the part of the zone's first block twice (``g1_access_block``, ``g1_convert_atop``). And an
appended write for which its segment has no room is transferred in pieces (``disk_buffer_transfer_size``).
"""
