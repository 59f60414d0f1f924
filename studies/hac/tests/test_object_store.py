"""Test the prices of a client cache's counts against closed forms, and the page server also against hand-made cases and
a reference."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty.errors import InputError, ParameterError
from misspenalty_studies.hac.object_server.object_client import HIT, Prices, load_testbed
from misspenalty_studies.hac.object_server.page_server import PageServer, Stream, message_ns
from misspenalty_studies.hac.objects.cache import COUNTS
from studies.hac.tests.reference import page_server

MACHINE = Path(__file__).parents[3] / "studies" / "hac" / "machine.yaml"
DRIVE = "hp97560"
CLIENT, SERVER, DISK, NETWORK = range(4)


@pytest.fixture(scope="module")
def testbed():
    return load_testbed(MACHINE).with_values(drive=DRIVE, install_instructions=100, page_order="contiguous")


def counts(**values):
    return pd.DataFrame([dict.fromkeys(COUNTS, 0) | values])


def stream(pages, before=0, register=0):
    return Stream(np.array(pages), np.full(len(pages) + 1, before), register)


# --- prices


def test_the_share_of_lines_in_the_second_level_cache_follows_from_its_size(testbed):
    alpha = testbed.processor()
    assert alpha.line_ns(alpha.l2_bytes / 2) == alpha.l2_ns
    assert alpha.line_ns(2 * alpha.l2_bytes) == pytest.approx((alpha.l2_ns + alpha.memory_ns) / 2)
    assert alpha.line_ns(1e15) == pytest.approx(alpha.memory_ns)
    assert testbed.processor("ppro_larger_l2").l2_bytes > testbed.processor("ppro").l2_bytes


def test_stack_scanning_is_words_times_instructions_and_near_lines(testbed):
    alpha, words = testbed.processor(), 1000
    found = Prices(testbed).replacement(counts(stack_words=words), 1e7).iloc[0]
    lines = words * 8 / alpha.line_bytes
    expected = words * testbed["stack_word_instructions"] * 1000 * alpha.cpi / alpha.mhz + lines * alpha.l2_ns
    assert found["stack_scanning"] == pytest.approx(expected)
    assert found["usage_computation"] == found["compaction"] == 0


def test_conversion_is_linear_in_what_was_installed_and_swizzled(testbed):
    prices = Prices(testbed)

    def cost(**values):
        return prices.conversion(counts(**values), 1e7).iloc[0]

    one, other = cost(installed=1), cost(swizzled=1)
    assert cost(installed=7, swizzled=5) == pytest.approx(7 * one + 5 * other)
    instructions = testbed["install_instructions"] * testbed.processor().instruction_ns
    assert one == pytest.approx(instructions + testbed.processor().line_ns(1e7))


def test_every_count_of_replacement_has_a_price(testbed):
    free = {"accesses", "fetches", "installed", "swizzled", "frames_freed", "whole_evictions", "page_objects",
            "page_survivors", "entries_made", "modified", "pages_kept", "entries"}  # fmt: skip
    assert len(COUNTS) > len(free)
    for name in COUNTS:
        found = Prices(testbed).replacement(counts(**{name: 1}), 1e7).sum(axis=1).iloc[0]
        assert (found > 0) == (name not in free), name


def test_a_faster_processor_costs_less_at_every_operation(testbed):
    assert COUNTS
    for name in COUNTS:
        rows = counts(**{name: 1})
        alpha, ppro = (Prices(testbed, testbed.processor(which)) for which in ("client", "ppro"))
        assert ppro.replacement(rows, 1e7).sum(axis=1).iloc[0] <= alpha.replacement(rows, 1e7).sum(axis=1).iloc[0]


def test_hit_time_has_the_lines_of_the_papers_table(testbed):
    found = Prices(testbed).hit_time(counts(accesses=10), 1e7)
    assert tuple(found.columns) == HIT
    assert (found.iloc[0] > 0).all()


def test_an_unfitted_cost_cannot_be_used(testbed):
    with pytest.raises(ParameterError, match="install_instructions"):
        Prices(load_testbed(MACHINE)).conversion(counts(installed=1), 1e7)
    with pytest.raises(ParameterError, match="swizle"):
        testbed.with_values(swizle_instructions=1)


def test_a_machine_file_with_an_unknown_key_is_refused(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE.read_text().replace("packet_us:", "paket_us:"))
    with pytest.raises(InputError, match="paket_us"):
        load_testbed(path)


def test_variations_leave_out_the_value_in_use(testbed):
    listed = testbed.variations()
    assert ("client_cpi", 1.2) in listed
    assert ("install_instructions", 50.0) in listed
    assert all(testbed.values[name] != value for name, value in listed)


# --- the network


def test_a_page_takes_its_bits_on_the_wire(testbed):
    processor, wire = message_ns(testbed, 8192)
    assert wire == round(8000 * (8192 + 6 * 78) / 10)  # six packets
    assert processor == 2 * 130_000


def test_on_a_fast_network_the_processor_is_the_slowest_stage(testbed):
    processor, wire = message_ns(testbed, 8192, 100)
    assert processor + wire == pytest.approx(6 * 130_000 + 2 * 130_000)


# --- the server


def test_a_hit_costs_network_server_and_client_alone(testbed):
    server = PageServer(testbed, 10)
    (found,) = server.run([stream([3, 3, 3], before=1000, register=50)])
    assert found.hit.tolist() == [False, True, True]
    expected = {CLIENT: 50, SERVER: 100_000, DISK: 0, NETWORK: sum(server.request) + sum(server.reply)}
    assert found.ns[1].tolist() == [expected[i] for i in range(4)]
    assert (found.ns[1] == found.ns[2]).all()
    assert found.ns[0, DISK] > 0


def test_fetches_and_work_add_up_to_the_time_on_the_clock(testbed):
    pages = np.random.default_rng(1).integers(1, 50, 200)
    (found,) = PageServer(testbed, 50).run([stream(pages, before=777, register=5)])
    assert found.begun[-1] - found.begun[0] == found.ns.sum() + 200 * 777
    assert (np.diff(found.begun) == found.ns.sum(1) + 777).all()


def test_the_page_cache_is_lru(testbed):
    small = testbed.with_values(server_cache_mb=2 * 8192 / 2**20)
    (found,) = PageServer(small, 10).run([stream([1, 2, 1, 3, 2, 1, 1])])
    assert found.hit.tolist() == [False, False, True, False, False, False, True]


def test_contiguous_pages_are_read_ahead_and_scattered_ones_are_not(testbed):
    def read_ms(order):
        chosen = testbed.with_values(page_order=order)
        server = PageServer(chosen, 400, generator=np.random.default_rng(1))
        (found,) = server.run([stream(range(1, 401))])
        return found.ns[:, DISK].mean() / 1e6

    assert read_ms("contiguous") < 0.5 * read_ms("scattered")
    assert 8 < read_ms("scattered") < 30


def test_a_share_of_hits_is_drawn(testbed):
    server = PageServer(testbed, 10, hit_share=0.23, generator=np.random.default_rng(1))
    (found,) = server.run([stream([1] * 4000)])
    assert found.hit.mean() == pytest.approx(0.23, abs=0.02)


def test_several_clients_queue_and_lose_nothing(testbed):
    pages = np.random.default_rng(1).integers(1, 100, 60)
    alone = PageServer(testbed, 100).run([stream(pages)])[0]
    found = PageServer(testbed, 100).run([stream(pages), stream(pages), stream(pages)])
    assert [len(one.ns) for one in found] == [60, 60, 60]
    assert all(one.ns[:, NETWORK].mean() > 1.5 * alone.ns[:, NETWORK].mean() for one in found)
    assert all(one.begun[-1] == one.begun[0] + one.ns.sum() for one in found)


@pytest.mark.parametrize("arguments", [{"hit_share": 1.5}, {"hit_share": 0.5}, {"pages": 10**9}])
def test_impossible_servers_are_refused(testbed, arguments):
    with pytest.raises(ParameterError):
        PageServer(testbed, **{"pages": 10} | arguments)


def test_more_scattered_pages_than_the_drive_has_are_refused(testbed):
    with pytest.raises(ParameterError, match="1000000000 pages do not fit on drive"):
        PageServer(testbed.with_values(page_order="scattered"), 10**9, generator=np.random.default_rng(1))


def test_scattered_pages_need_a_generator(testbed):
    with pytest.raises(ParameterError, match="generator"):
        PageServer(testbed.with_values(page_order="scattered"), 10)


@st.composite
def _replays(draw):
    """Draw streams of one to four clients on a small database, and how they are replayed."""
    several = []
    for _ in range(draw(st.integers(1, 4))):
        pages = draw(st.lists(st.integers(1, 40), min_size=1, max_size=60))
        before = draw(st.lists(st.integers(0, 30_000_000), min_size=len(pages) + 1, max_size=len(pages) + 1))
        several.append(Stream(np.array(pages), np.array(before), draw(st.integers(0, 5_000_000))))
    earlier = draw(st.lists(st.integers(1, 40), max_size=30))
    enough = draw(st.none() | st.integers(1, min(len(one.page) for one in several)))
    order = draw(st.sampled_from(["contiguous", "shuffled", "scattered"]))
    return several, earlier, enough, order, draw(st.integers(0, 12)), draw(st.sampled_from([None, 0, 0.3]))


@given(_replays(), st.sampled_from([None, 100]))
def test_the_kernel_equals_the_reference(testbed, replay, rate):
    streams, earlier, enough, order, pages, share = replay
    chosen = testbed.with_values(page_order=order, server_cache_mb=pages * 8192 / 2**20)

    def server():
        return PageServer(chosen, 40, rate=rate, hit_share=share, generator=np.random.default_rng(5))

    expected = page_server.run(server(), streams, earlier, enough)
    assert len(expected) == len(streams)
    for one, other in zip(server().run(streams, earlier, enough), expected, strict=True):
        assert one.ns.tolist() == other.ns.tolist()
        assert one.begun.tolist() == other.begun.tolist()
        assert one.hit.tolist() == other.hit.tolist()


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        ([stream([1, 11])], "pages 1 to 11 are fetched, but the database has pages 1 to 10"),
        ([stream([0])], "pages 0 to 0"),
        ([stream([1]), stream([1], before=-1)], "negative"),
        ([stream([1], register=-5)], "negative"),
        ([Stream(np.array([1, 2]), np.array([0, 0]), 0)], "expected one before each fetch"),
    ],
)
def test_impossible_streams_are_refused(testbed, streams, message):
    with pytest.raises(ParameterError, match=message):
        PageServer(testbed, 10).run(streams)
