// foyer.lru, capacity 10, trace 1-10 1 11 1: prints 0000000000100; lru has 0000000000101
use foyer_memory::{Cache, CacheBuilder, LruConfig};

fn main() {
    let cache: Cache<u64, ()> =
        CacheBuilder::new(10).with_shards(1).with_eviction_config(LruConfig::default()).build();
    for block in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 11, 1] {
        let hit = cache.get(&block).is_some();
        if !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
