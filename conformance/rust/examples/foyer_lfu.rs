// foyer.lfu, capacity 10, trace 1-11 1: prints 000000000000; wtinylfu has 000000000001
use foyer_memory::{Cache, CacheBuilder, LfuConfig};

fn main() {
    let cache: Cache<u64, ()> =
        CacheBuilder::new(10).with_shards(1).with_eviction_config(LfuConfig::default()).build();
    for block in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1] {
        let hit = cache.get(&block).is_some();
        if !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
