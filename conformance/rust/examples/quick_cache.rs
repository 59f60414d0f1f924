// quick_cache.unsync, capacity 3, trace 1 2 3 4 1: prints 00001; s3fifo has 00000
fn main() {
    let mut cache = quick_cache::unsync::Cache::new(3);
    for block in [1, 2, 3, 4, 1] {
        let hit = cache.get(&block).is_some();
        if !hit {
            cache.insert(block, ());
        }
        print!("{}", hit as u8);
    }
    println!();
}
