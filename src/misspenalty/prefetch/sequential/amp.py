"""Define AMP, sequential prefetching whose degree and trigger distance adapt to each stream.

The group of tracks that one prefetch reads is a set. The last track of a set keeps p, the number of tracks in the next
set, and g, the trigger's distance from the end of a set; so there is no table of streams, and no limit to their number.

- A read that misses a sequential track whose predecessor keeps p also reads the next p tracks. The missed track keeps p
  plus the tracks of the read and, if that is above `ahead_above`, g = ``ahead_above // 2``.
- The last track of a set takes over g, and p (at least g + 1), from the track before the set. If p is above
  `ahead_above`, the track g from the end of the set carries a trigger: a read hit there reads the next p tracks ahead
  of the stream.
- p grows by the number of tracks of the read if the last track of a set is hit, unless that track has had its second
  chance.
- A track that reaches the LRU end unread has a second chance: it goes back once to where the policy puts sequential
  tracks (the MRU end, except in LRU Bottom). As such a track shows that p is too large, p falls by 1 but not below 1,
  and g falls by 1 but stays between 0 and p - 1.
- g grows by 1 if a set that was fetched ahead arrives when a read already waits for its first track.
- The first access to a prefetched track leaves it where it is; later ones move it as the policy says.

A change of p or g applies to the last track of a set or, if the next set has already been fetched, to the last track of
that next set.

Paper: B. S. Gill, L. A. D. Bathen, "AMP: Adaptive Multi-stream Prefetching in a Shared Cache", FAST 2007, section
III-C; its text is legible, but its pseudo-code, Figures 3 and 4, is not. Authors' code: none published.

Each rule comes from one of these sources (line numbers of the figures are those that the text and a public port, AMP.c
of CMimircache, give):

- Text: p and g live in the page's metadata; the set after a miss has the p of the page before (20-23); a trigger's
  hit resets it and fetches the p of the last page of its set (27-30); p grows by the size of the read at a hit on the
  last page of a read set that is not marked old (31-35); sets are fetched ahead if p is above 4, with g = 4 / 2 at
  first (41, 49); a trigger g from the end (49); g grows if a read waits for the first page (47); an unread page at the
  LRU end goes to MRU and is marked old (53), which lowers p (56); g falls when p does.
- Only the port: what a missed page keeps; at least g + 1 pages in a set; the bounds to which p and g fall; the use of
  the last page of the following set; where nothing is kept, the set has the size of the read; an old page has no
  trigger; the first read does not move the page.
- Neither; these are our decisions of 2026-11-24, made before any result was known:

  - the unit is the track, as for SARC's prefetcher: the threshold 4 is four tracks, and `most` is 32 tracks of 32 KB,
    the 1 MB of the 256 pages in Figure 6 (the text sets one maximum for all adaptive algorithms; its number is lost);
  - detection is SARC's, by `threshold`; p counts from the first sequential miss on ("starts off with a small p");
  - the size of a read is that of the part that the controller receives for one array of the host; its tracks are
    looked up one after another, so that a set begins after the missed track, not after the request;
  - only the first read of a set's last track makes p grow, as a track is read several times and a page once;
  - only sets fetched ahead make g grow: after a miss there was no trigger that could have been hit sooner. g grows
    for the next set, since the trigger of the present set is fixed when the set's read is issued;
  - a trigger that would lie before its set is at the set's first track; the last set of a volume has none;
  - the following set is found by its first track, which records where the set's last track is (the port uses p).

Without time, as in the replay of a trace, no read ever waits, and g only falls. A second chance needs a policy on
tracks: LRU Top (the paper's LRU cache), LRU Bottom or SARC.
"""

from misspenalty.policies.registry import Parameter
from misspenalty.policies.track_cache import THRESHOLD

NAME = "amp"

PARAMETERS = (
    Parameter("most", 32, "maximum number of tracks per set", 1, 256),
    Parameter("ahead_above", 4, "degree above which sets are fetched ahead of the stream", 0, 256),
    Parameter("threshold", None, f"{THRESHOLD.doc}, auto: the policy's, else {THRESHOLD.default}", 1, 255),
    Parameter("writes_sequential", 1, "1: written tracks of a run count as sequential", 0, 1),
)
FIXED = {"degree": 0, "trigger": -1, "remedy": 0}  # settings of the fixed-degree prefetcher that AMP replaces
