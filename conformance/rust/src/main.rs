//! Run conformance vectors through a cache of a Rust library, and print its outcomes.
//!
//!     conformance list                           the caches: name, library, version, policy
//!     conformance lru.LruCache VECTORS [RUNS]    VECTORS: a file such as lru.json
//!     conformance lru.LruCache 2 "1 2 1 3 2"     one trace on a cache of 2 blocks; @FILE reads it

use foyer_memory::{CacheBuilder, EvictionConfig, FifoConfig, LfuConfig, LruConfig, S3FifoConfig};
use serde_json::Value;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::Path;

/// Whether a block was in the cache, which loads it; a write loads it without looking it up.
type Reference = Box<dyn FnMut(u64, bool) -> bool>;
type Open = fn(usize) -> Reference;

fn lru(capacity: usize) -> Reference {
    let mut c = lru::LruCache::new(NonZeroUsize::new(capacity).unwrap());
    Box::new(move |block, write| {
        let hit = if write { c.contains(&block) } else { c.get(&block).is_some() };
        if write || !hit {
            c.put(block, ());
        }
        hit
    })
}

fn sieve(capacity: usize) -> Reference {
    let mut c = sieve_cache::SieveCache::new(capacity).unwrap();
    Box::new(move |block, write| {
        let hit = if write { c.contains_key(&block) } else { c.get(&block).is_some() };
        if write || !hit {
            c.insert(block, ());
        }
        hit
    })
}

/// Moka evicts in the background; `run_pending_tasks` waits for it.
fn moka(capacity: usize, policy: moka::policy::EvictionPolicy) -> Reference {
    let c = moka::sync::Cache::builder().max_capacity(capacity as u64).eviction_policy(policy).build();
    Box::new(move |block, write| {
        let hit = if write { c.contains_key(&block) } else { c.get(&block).is_some() };
        if write || !hit {
            c.insert(block, ());
        }
        c.run_pending_tasks();
        hit
    })
}

fn quick_cache(capacity: usize) -> Reference {
    let mut c = quick_cache::unsync::Cache::new(capacity);
    Box::new(move |block, write| {
        let hit = if write { c.contains_key(&block) } else { c.get(&block).is_some() };
        if write || !hit {
            c.insert(block, ());
        }
        hit
    })
}

/// Foyer's in-memory cache with a single shard, so that the capacity is that of one queue.
fn foyer(capacity: usize, policy: EvictionConfig) -> Reference {
    let c: foyer_memory::Cache<u64, ()> =
        CacheBuilder::new(capacity).with_shards(1).with_eviction_config(policy).build();
    Box::new(move |block, write| {
        let hit = if write { c.contains(&block) } else { c.get(&block).is_some() };
        if write || !hit {
            c.insert(block, ());
        }
        hit
    })
}

/// Name, library, version, policy that it says it has, certain or chance, function of the capacity.
const CACHES: [(&str, &str, &str, &str, &str, Open); 8] = [
    ("lru.LruCache", "lru", "0.19.1", "lru", "certain", lru),
    ("sieve-cache.SieveCache", "sieve-cache", "1.2.0", "sieve", "certain", sieve),
    ("moka.lru", "moka", "0.12.16", "lru", "certain", |n| moka(n, moka::policy::EvictionPolicy::lru())),
    ("quick_cache.unsync", "quick_cache", "0.7.0", "s3fifo", "certain", quick_cache),
    ("foyer.fifo", "foyer-memory", "0.22.6", "fifo", "certain", |n| foyer(n, FifoConfig::default().into())),
    ("foyer.lru", "foyer-memory", "0.22.6", "lru", "certain", |n| foyer(n, LruConfig::default().into())),
    ("foyer.s3fifo", "foyer-memory", "0.22.6", "s3fifo", "certain", |n| foyer(n, S3FifoConfig::default().into())),
    ("foyer.lfu", "foyer-memory", "0.22.6", "wtinylfu", "chance", |n| foyer(n, LfuConfig::default().into())),
];

fn replay(open: Open, capacity: usize, trace: &[u64], writes: &HashSet<usize>) -> String {
    let mut reference = open(capacity);
    let outcome = |(n, block): (usize, &u64)| if reference(*block, writes.contains(&n)) { '1' } else { '0' };
    trace.iter().enumerate().map(outcome).collect()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|word| word.parse().expect("a block number")).collect()
}

fn array(value: &Value) -> Vec<u64> {
    value.as_array().map(|items| items.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}

fn print(id: &Value, hits: String) {
    println!("{}", serde_json::json!({"id": id, "hits": hits}));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments[0] == "list" {
        for (name, library, version, policy, kind, _) in CACHES {
            println!("{name}\t{library}\t{version}\t{policy}\t{kind}");
        }
        return;
    }
    let (.., kind, open) = *CACHES.iter().find(|cache| cache.0 == arguments[0]).expect("a known cache");
    if let Ok(capacity) = arguments[1].parse() {
        let text = match arguments[2].strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path).expect("a trace"),
            None => arguments[2].clone(),
        };
        println!("{}", replay(open, capacity, &numbers(&text), &HashSet::new()));
        return;
    }
    let path = Path::new(&arguments[1]);
    let suite: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("vectors")).expect("JSON");
    for v in suite["vectors"].as_array().unwrap() {
        if kind == "certain" && v["parameters"].is_null() {
            let writes = array(&v["writes"]).into_iter().map(|n| n as usize).collect();
            let capacity = v["capacity"].as_u64().unwrap() as usize;
            print(&v["id"], replay(open, capacity, &array(&v["trace"]), &writes));
        }
    }
    let runs: usize = arguments.get(2).map_or(1, |text| text.parse().expect("a number of runs"));
    for v in suite["long"].as_array().unwrap() {
        let file = path.parent().unwrap().join(v["file"].as_str().unwrap());
        let trace = numbers(&std::fs::read_to_string(file).expect("a trace"));
        for _ in 0..runs {
            print(&v["id"], replay(open, v["capacity"].as_u64().unwrap() as usize, &trace, &HashSet::new()));
        }
    }
}
