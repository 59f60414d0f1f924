"""Put any policy behind the sequential prefetcher, in slow, readable code, as the oracle for the kernel."""

from misspenalty.policies.track_cache import Tracks


class BehindReference(Tracks):
    """Any policy behind the prefetcher's reference; pages are numbered by track and page.

    The policy has ``capacity``, ``__contains__(page)`` and ``access_block(page)``, so a kernel has to be wrapped.
    """

    def __init__(self, policy, track_pages=1, **settings):
        super().__init__(policy.capacity, track_pages, **settings)
        self.policy, self.track_pages = policy, track_pages

    def cached(self, track):
        """Return the mask of the track's pages in the cache."""
        first = track * self.track_pages
        return sum((first + page in self.policy) << page for page in range(self.track_pages))

    def add_pages(self, track, pages):
        """Reference pages of a track, which the policy loads if they are not cached."""
        for page in range(self.track_pages):
            if pages >> page & 1:
                self.policy.access_block(track * self.track_pages + page)

    def use(self, track, pages):
        """Reference those pages of a track that are still cached."""
        self.add_pages(track, pages & self.cached(track))

    def insert(self, track, pages, sequential):
        """Reference those pages of a track that are not cached."""
        self.add_pages(track, pages & ~self.cached(track))
