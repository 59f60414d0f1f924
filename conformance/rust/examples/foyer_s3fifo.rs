// foyer.s3fifo, capacity 10, trace 1 1-11 1: prints 0100000000001; s3fifo has 0100000000000
use foyer_memory::{Cache, CacheBuilder, S3FifoConfig};

fn main() {
    let cache: Cache<u64, ()> =
        CacheBuilder::new(10).with_shards(1).with_eviction_config(S3FifoConfig::default()).build();
    for block in [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1] {
        let hit = cache.get(&block).is_some();
        if !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
