// foyer.fifo, capacity 2, trace 1 2 w1 3 1: prints 00101; fifo has 00100
use foyer_memory::{Cache, CacheBuilder, FifoConfig};

fn main() {
    let cache: Cache<u64, ()> =
        CacheBuilder::new(2).with_shards(1).with_eviction_config(FifoConfig::default()).build();
    for (block, write) in [(1, false), (2, false), (1, true), (3, false), (1, false)] {
        let hit = cache.contains(&block);
        if write || !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
