"""Describe how a drive with ``disksim_buffer`` follows DiskSim 4.0's code, function by function.

The code is ``src/disksim_diskctlr.c``, ``src/disksim_diskcache.c`` and ``diskmodel/mech_g1.c`` of the published
DiskSim 4.0 whose answers are in the shared reference data (GitHub repository westerndigitalcorporation/DiskSim, folder
``STABLE/DiskSim_Linux_Generic_2.01.016``). ``benchmarks/disksim.py`` reports how many of those answers the model
reproduces.

``disk_buffer_select_read_segment``
    A read uses the segment that holds all its blocks, else one that holds its first block; if several do, it uses the
    one being read ahead into, else the least recently used. A drive without ``disksim_buffer`` uses the segment that
    holds the most blocks of the read.
``disk_buffer_select_write_segment``
    A write uses a segment that it overlaps, else an empty one, else the least recently used, but never the one being
    read ahead into. A drive without another segment first leaves the bus and stops reading ahead. No segment is
    reserved for writes.
``disk_buffer_set_segment``
    Every other segment that holds a block of the write is emptied, unless it is being read ahead into.
``disk_release_hda``
    Once a write is on the medium, its segment becomes empty if the drive cannot read written blocks from its cache.
``disk_buffer_block_available, disk_buffer_update_outbuffer``
    Read-ahead does not overwrite a block that the current read has yet to send: it lets the sector pass, and reads it
    a revolution later.
``disk_buffer_attempt_seg_ownership``
    A request never moves the end of read-ahead back; a full hit moves it forward even after read-ahead has stopped.
``disk_buffer_get_max_readahead``
    If read-ahead continues for one more track, it reads as many blocks as the track on which the request begins has.
``disk_buffer_stopable_access``
    Read-ahead stops at the end of a sector (whose block is not kept), at the end of a seek, or before the first sector
    of a track.
``disk_check_hda``
    The time to stop is added to the command's time; on a drive without ``disksim_buffer`` the two overlap.
``disk_read_arrive, disk_write_arrive``
    If a command arrives while the arm writes behind, the drive leaves the bus. It chooses the segment, and takes up
    the bus again, when the arm is free.
``disk_buffer_request_complete, disk_release_hda``
    A write that continues the one in progress is written together with it, up to the data that has arrived, and then
    a second time by itself. A third one waits until both are written.
``disk_buffer_sector_done``
    A drive that writes in any order writes each passing sector whose data has arrived.
``disk_buffer_select_segment``
    Writes cause no extra disconnects: the lines that mark them are commented out in DiskSim.
``dm_rottime_g1, dm_rotate_g1``
    A sector lasts a multiple of 2^-20 of a revolution; each one that passes delays the platter by a further 2^-24.

Sectors that pass before a read's first one are not kept in any of the answers, whatever ``read_free_blocks`` says.

Two things are not modelled. First, on a drive that reads in any order (Atlas 10K), read-ahead that lands within a track
keeps sectors from there on, and gives up blocks at the segment's front for them (``immedstart`` and ``immedend`` of
``disk_buffer_sector_done``, ``disk_buffer_segment_wrap``). Which sector is the first depends on the track's skew, from
which DiskSim subtracts the offset of the zone's first block twice (``g1_access_block``, ``g1_convert_atop``). Second,
an appended write that does not fit in its segment is transferred in pieces (``disk_buffer_transfer_size``).
"""
