"""Small traces as people have them, in the dialects of public ones: read right, or refused with the one thing to say.

The right values were computed by hand, apart from the package.
"""

from pathlib import Path

import pytest

from misspenalty import open_trace, simulate

INPUTS = Path(__file__).parents[1] / "data" / "inputs"
VOLUMES = {"time": "1", "offset": "2", "size": "3", "op": "4", "device": "5"}


# references, blocks, reads, hits of LRU with two blocks
@pytest.mark.parametrize(
    ("name", "options", "right"),
    [
        ("01_names_own.csv", {"columns": "block=photo,time=when"}, (3, 2, 3, 1)),
        ("02_iotype_lun.csv", {}, (4, 3, 1, 0)),
        ("04_device_id.csv", {}, (4, 3, 3, 1)),
        ("04b_device_id_us.csv", {}, (4, 3, 3, 1)),
        ("06_web_one_feature.tr", {"format": "lrb"}, (3, 2, 3, 1)),
        ("08_byte_addresses.txt", {"format": "disksim", "address_unit": "bytes", "size_unit": "bytes"}, (4, 3, 2, 0)),
        ("11_text_key_count.csv", {}, (6, 2, 6, 4)),
        ("11_text_key_count.csv", {"columns": "key=key,repeat=op_count"}, (6, 2, 6, 4)),
        ("16_hex_keys.csv", {}, (3, 2, 3, 1)),
        ("17_hash_64_bits.csv", {}, (3, 2, 3, 1)),
        ("18_pandas_float.csv", {}, (3, 2, 2, 0)),
        ("20_tabs.tsv", {}, (3, 2, 3, 1)),
        ("21_completions_only.txt", {"action": "C"}, (2, 1, 1, 0)),
        ("23_gzip_without_suffix", {}, (3, 2, 3, 1)),
        ("24_get_set.csv", {"operations": "GET=read,SET=write"}, (3, 2, 2, 1)),
        ("24_get_set.csv", {}, (3, 2, 2, 1)),
        ("27_object_33_bits.tr", {"format": "lrb"}, (2, 1, 2, 1)),
        ("27_object_33_bits.tr", {"format": "adapt_size"}, (2, 1, 2, 1)),
        ("formats/access.log", {}, (2, 1, 2, 1)),
        ("formats/alicloud.csv", {}, (4, 3, 3, 1)),
        ("formats/fiu.txt", {}, (2, 1, 1, 1)),
        ("formats/ftrace.txt", {}, (2, 1, 1, 1)),
        ("formats/lackey.trace", {}, (5, 2, 3, 1)),
        ("formats/meta_block.csv", {}, (4, 2, 3, 2)),
        ("formats/meta_kv.csv", {}, (6, 1, 5, 4)),
        ("formats/redis_monitor.log", {}, (3, 2, 2, 1)),
        ("formats/tencent.csv", {"format": "tencent"}, (3, 3, 2, 0)),
        ("formats/twitter.csv", {}, (3, 2, 2, 1)),
        ("formats/urls.txt", {}, (3, 2, 3, 1)),
        ("formats/wikimedia.tsv", {}, (3, 2, 3, 1)),
    ],
)
def test_what_people_have_is_read_right(name, options, right):
    trace = open_trace(INPUTS / name, **options)
    assert (len(trace), trace.blocks, trace.reads, simulate(trace, "lru", 2).hits) == right
    assert trace.reading is not None and (trace.reading.reads, trace.reading.writes) == (right[2], right[0] - right[2])
