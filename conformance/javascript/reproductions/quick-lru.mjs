// quick-lru.QuickLRU, capacity 2, trace 1 2 3 1: prints 0001; lru has 0000
import QuickLRU from "quick-lru";

const cache = new QuickLRU({ maxSize: 2 });
let hits = "";
for (const block of [1, 2, 3, 1]) {
  const hit = cache.get(block) !== undefined;
  if (!hit) cache.set(block, true);
  hits += hit ? "1" : "0";
}
console.log(hits);
