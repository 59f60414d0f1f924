// Run conformance vectors through a cache of a JavaScript library, and print its outcomes.
//
//   node adapter.mjs list                                 the caches: name, library, version, policy, certain or chance
//   node adapter.mjs lru-cache.LRUCache VECTORS [RUNS]    VECTORS: a file such as lru.json
//   node adapter.mjs lru-cache.LRUCache 2 "1 2 1 3 2"     one trace on a cache of 2 blocks; @FILE reads it
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LRUCache } from "lru-cache";
import { LRUCache as MnemonistCache, LRUMap } from "mnemonist";
import QuickLRU from "quick-lru";

// For each cache: its library, the policy that it claims, and a function of the capacity that makes it.
const caches = {
  "lru-cache.LRUCache": ["lru-cache", "lru", (capacity) => new LRUCache({ max: capacity })],
  "mnemonist.LRUCache": ["mnemonist", "lru", (capacity) => new MnemonistCache(capacity)],
  "mnemonist.LRUMap": ["mnemonist", "lru", (capacity) => new LRUMap(capacity)],
  "quick-lru.QuickLRU": ["quick-lru", "lru", (capacity) => new QuickLRU({ maxSize: capacity })],
};

// Return the outcomes (1 for a hit) and, unless `writes` is undefined, the blocks that each reference evicted.
function replay(open, capacity, trace, writes) {
  const cache = open(capacity);
  const written = new Set(writes);
  const evicted = writes && {};
  let hits = "";
  let cached = [];
  trace.forEach((block, number) => {
    const write = written.has(number);
    const hit = write ? cache.has(block) : cache.get(block) !== undefined;
    if (write || !hit) cache.set(block, true);
    hits += hit ? "1" : "0";
    if (!writes) return;
    const gone = cached.filter((each) => !cache.has(each)).sort((a, b) => a - b);
    if (gone.length > 0) evicted[number] = gone;
    cached = [...new Set([...cached, block])].filter((each) => cache.has(each));
  });
  return { hits, evicted };
}

const numbers = (text) => text.split(/\s+/).filter(Boolean).map(Number);
const version = (library) =>
  JSON.parse(readFileSync(new URL(`package.json`, import.meta.url))).dependencies[library];

const [name, first, second] = process.argv.slice(2);
if (name === "list") {
  for (const [cache, [library, policy]] of Object.entries(caches))
    console.log([cache, library, version(library), policy, "certain"].join("\t"));
} else if (/^[0-9]+$/.test(first)) {
  const text = second.startsWith("@") ? readFileSync(second.slice(1), "utf8") : second;
  console.log(replay(caches[name][2], Number(first), numbers(text)).hits);
} else {
  const suite = JSON.parse(readFileSync(first, "utf8"));
  const print = (id, told) => console.log(JSON.stringify({ id, ...told }));
  const open = caches[name][2];
  for (const v of suite.vectors)
    if (!v.parameters) print(v.id, replay(open, v.capacity, v.trace, v.writes ?? []));
  for (const v of suite.long) {
    const trace = numbers(readFileSync(join(dirname(first), v.file), "utf8"));
    for (let run = 0; run < Number(second ?? 1); run++) print(v.id, replay(open, v.capacity, trace));
  }
}
