// sieve-cache.SieveCache, capacity 3, trace 1 2 3 4 1 2: prints 000001; sieve has 000000
fn main() {
    let mut cache = sieve_cache::SieveCache::new(3).unwrap();
    for block in [1, 2, 3, 4, 1, 2] {
        let hit = cache.get(&block).is_some();
        if !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
