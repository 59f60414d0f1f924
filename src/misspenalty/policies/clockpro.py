"""CLOCK-Pro: LIRS on a clock, with a share of cold pages that adapts; a hit only sets a bit.

All pages are in one list, in the order in which they were put at its head. A page is hot or cold; the test period of a
cold page lasts from its entry until it is older than the oldest hot page, and an evicted page stays in the list for the
rest of its test period. Three hands start from the old end. HAND_cold evicts the oldest cold page in the cache; if that
page was used, it goes to the head instead, and becomes hot if it was in test. An evicted page that is requested in its
test becomes hot, too. HAND_hot then makes the oldest unused hot page cold, and ends the tests it passes. HAND_test ends
the oldest test when more evicted pages are in the list than the cache has blocks. The target m_c of the number of cold
pages grows by one with each use of a page in test and shrinks by one with each test that ends without a use.

Paper: S. Jiang, F. Chen, X. Zhang, "CLOCK-Pro: an effective improvement of the CLOCK replacement", USENIX ATC 2005,
section 4.
Authors' code: clock-pro.c by S. Jiang, 29 September 2005.

Deviations and decisions:

- Where the paper and the code differ, the paper is followed: the code keeps the share of cold pages fixed unless
  compiled otherwise, and evicts a cold page that is not in test even if it was used.
- As in the authors' code: the first pages are hot until there is room left only for the minimum number of cold pages,
  and those loaded after them are cold; hot pages that were used go to the head when HAND_hot passes; cold pages that
  it passes keep their place.
- As in the authors' code and in Caffeine's simulator: a page that HAND_hot passes while making room for that very page
  becomes hot if the hand made a hot page cold before it passed. If it did not, the page goes to the head as a cold
  page in its test, as in Caffeine's simulator; the authors' code evicts such a page if it was in the cache. In both
  cases m_c shrinks again as the test ends, as in Caffeine's simulator.
- A used cold page that is not in test begins a new test at the head, like the pages that LIRS puts on its stack.
- The paper leaves the bounds of m_c open; here it stays between 1 % (at least one page) and 99 % of the cache. It
  starts at the minimum, and stays there if `max_cold` is not above `min_cold`.
- If there are no hot pages, HAND_hot ends no test.
- Room is made before the requested page is looked up, as in the paper. A page that returns is among the evicted ones
  until then, so if the list is full, making room can end the test of that very page.
"""

from collections import OrderedDict
from dataclasses import dataclass

from misspenalty.policies._clockpro import ClockPro as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("min_cold", 0.01, "smallest m_c, as a share of the cache; at least one page", 0, 1, float),
    Parameter(
        "max_cold", 0.99, "largest m_c, as a share of the cache; leaves room for at least one hot page", 0, 1, float
    ),
    Parameter("history", 1.0, "evicted pages kept in the list, in multiples of the cache", 0, 1000, float),
)


@dataclass
class Page:
    """A page in the list."""

    hot: bool
    test: bool = False  # whether the page is in its test period
    resident: bool = True
    used: bool = False  # the page's reference bit


@register("clockpro", Kernel, PARAMETERS)
class ClockPro(Reference):
    """CLOCK-Pro: hot and cold pages by reuse distance, on a clock with three hands."""

    def __init__(self, capacity, min_cold=0.01, max_cold=0.99, history=1.0):
        self.capacity = capacity
        self.least = max(int(min_cold * capacity), 1)
        self.most = max(min(int(max_cold * capacity), capacity - self.least), self.least)
        self.cold_target = self.least  # m_c
        self.room = int(history * capacity)
        self.clock = OrderedDict()  # block -> Page, oldest first
        self.hot = self.resident = self.absent = 0  # numbers of hot pages, cached pages and evicted pages in the list

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        page = self.clock.get(block)
        if page and page.resident:
            page.used = True
            return True
        if self.resident == self.capacity:
            self._run_hand_cold()
            self.resident += 1
            if block in self.clock:
                self._promote(block)
            else:
                self.clock[block] = Page(hot=False, test=True)
        else:
            hot = self.resident < self.capacity - self.least
            self.clock[block] = Page(hot=hot, test=not hot)
            self.hot += hot
            self.resident += 1
        return False

    def cached_blocks(self):
        """Return the blocks in the cache."""
        return {block for block, page in self.clock.items() if page.resident}

    def ghost_blocks(self):
        """Return the blocks that are remembered but not in the cache."""
        return self.clock.keys() - self.cached_blocks()

    def _run_hand_cold(self):
        """Move HAND_cold until a page is evicted."""
        while self.resident == self.capacity:
            block = next(block for block, page in self.clock.items() if page.resident and not page.hot)
            page = self.clock[block]
            if page.used and page.test:
                self._promote(block)
            elif page.used:
                self.clock.move_to_end(block)
                page.used, page.test = False, True
            else:
                page.resident = False
                self.resident -= 1
                if page.test:
                    self.absent += 1
                    self._run_hand_test()
                else:
                    del self.clock[block]

    def _run_hand_test(self):
        while self.absent > self.room:
            self._end_test(next(block for block, page in self.clock.items() if page.test))

    def _promote(self, block):
        """Make a cold page used in its test hot unless HAND_hot makes too few pages cold; move the page to the head."""
        page = self.clock[block]
        page.used = False
        self._move_target(1)
        hot = True
        while hot and self.hot >= self.capacity - self.cold_target:
            hot = self.hot > 0 and page.test and self._run_hand_hot(page)
        if self.clock.pop(block, None):
            self.absent -= not page.resident
        self.clock[block] = Page(hot=hot, test=not hot)
        self.hot += hot
        self._end_tests_before_hot()

    def _run_hand_hot(self, candidate):
        """Make the oldest unused hot page cold; return whether the hand finds one before it reaches `candidate`."""
        found = False
        for block, page in list(self.clock.items()):
            if page is candidate or found:
                break
            if page.hot:
                self.clock.move_to_end(block)
                page.hot, page.used, found = page.used, False, not page.used
                self.hot -= found
            else:
                self._end_test(block)
        self._end_tests_before_hot()
        return found

    def _end_tests_before_hot(self):
        """Move HAND_hot on to the oldest hot page, and end the tests that it passes."""
        for block, page in list(self.clock.items()) if self.hot else ():
            if page.hot:
                return
            self._end_test(block)

    def _end_test(self, block):
        page = self.clock[block]
        if page.test:
            page.test = False
            self._move_target(1 if page.used else -1)
            if not page.resident:
                del self.clock[block]
                self.absent -= 1

    def _move_target(self, step):
        self.cold_target = min(max(self.cold_target + step, self.least), self.most)
