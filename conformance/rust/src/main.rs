//! Run conformance vectors through a cache of a Rust library, and print its outcomes.
//!
//!     conformance list                           the caches: name, library, version, policy, certain or chance
//!     conformance lru.LruCache VECTORS [RUNS]    VECTORS: a file such as lru.json
//!     conformance lru.LruCache 2 "1 2 1 3 2"     one trace on a cache of 2 blocks; @FILE reads it

use foyer_memory::{CacheBuilder, EvictionConfig, FifoConfig, LfuConfig, LruConfig, S3FifoConfig};
use serde_json::{json, Value};
use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::path::Path;

/// What to do with a block: `Read` loads it if it is missing, `Write` loads it without a look-up, `Holds` only looks.
#[derive(Clone, Copy, PartialEq)]
enum Ask {
    Read,
    Write,
    Holds,
}

/// A function that carries out an `Ask` for a block, and returns whether the block was in the cache.
type Reference = Box<dyn FnMut(u64, Ask) -> bool>;
type Open = fn(usize) -> Reference;

/// Make a `Reference` of a cache from three functions: one returns whether the cache holds a block, one looks a block
/// up as a use, and one loads a block.
fn cache<C: 'static>(
    mut c: C, holds: fn(&C, u64) -> bool, finds: fn(&mut C, u64) -> bool, load: fn(&mut C, u64),
) -> Reference {
    Box::new(move |block, ask| {
        let hit = if ask == Ask::Read { finds(&mut c, block) } else { holds(&c, block) };
        if ask == Ask::Write || (ask == Ask::Read && !hit) {
            load(&mut c, block);
        }
        hit
    })
}

fn lru(capacity: usize) -> Reference {
    let c = lru::LruCache::new(NonZeroUsize::new(capacity).unwrap());
    cache(c, |c, b| c.contains(&b), |c, b| c.get(&b).is_some(), |c, b| { c.put(b, ()); })
}

fn sieve(capacity: usize) -> Reference {
    let c = sieve_cache::SieveCache::new(capacity).unwrap();
    cache(c, |c, b| c.contains_key(&b), |c, b| c.get(&b).is_some(), |c, b| { c.insert(b, ()); })
}

/// Moka postpones evictions; `run_pending_tasks` carries them out.
fn moka(capacity: usize, policy: moka::policy::EvictionPolicy) -> Reference {
    let c = moka::sync::Cache::builder().max_capacity(capacity as u64).eviction_policy(policy).build();
    let finds = |c: &mut moka::sync::Cache<u64, ()>, b| {
        let hit = c.get(&b).is_some();
        c.run_pending_tasks();
        hit
    };
    let load = |c: &mut moka::sync::Cache<u64, ()>, b| {
        c.insert(b, ());
        c.run_pending_tasks();
    };
    cache(c, |c, b| c.contains_key(&b), finds, load)
}

fn quick_cache(capacity: usize) -> Reference {
    let c = quick_cache::unsync::Cache::new(capacity);
    cache(c, |c, b| c.contains_key(&b), |c, b| c.get(&b).is_some(), |c, b| c.insert(b, ()))
}

/// Foyer's in-memory cache with a single shard, whose queue has the whole capacity.
fn foyer(capacity: usize, policy: EvictionConfig) -> Reference {
    let c: foyer_memory::Cache<u64, ()> =
        CacheBuilder::new(capacity).with_shards(1).with_eviction_config(policy).build();
    cache(c, |c, b| c.contains(&b), |c, b| c.get(&b).is_some(), |c, b| { c.insert(b, ()); })
}

/// Name, library, version, claimed policy, certain or chance, and a function of the capacity that opens the cache.
const CACHES: [(&str, &str, &str, &str, &str, Open); 8] = [
    ("lru.LruCache", "lru", "0.19.1", "lru", "certain", lru),
    ("sieve-cache.SieveCache", "sieve-cache", "1.2.0", "sieve", "certain", sieve),
    ("moka.lru", "moka", "0.12.16", "lru", "certain", |n| moka(n, moka::policy::EvictionPolicy::lru())),
    ("quick_cache.unsync", "quick_cache", "0.7.0", "s3fifo", "certain", quick_cache),
    ("foyer.fifo", "foyer-memory", "0.22.6", "fifo", "certain", |n| foyer(n, FifoConfig::default().into())),
    ("foyer.lru", "foyer-memory", "0.22.6", "lru", "certain", |n| foyer(n, LruConfig::default().into())),
    ("foyer.s3fifo", "foyer-memory", "0.22.6", "s3fifo", "certain", |n| foyer(n, S3FifoConfig::default().into())),
    ("foyer.lfu", "foyer-memory", "0.22.6", "wtinylfu", "certain", |n| foyer(n, LfuConfig::default().into())),
];

/// Return the outcomes (1 for a hit) and, if `tell`, the blocks that each reference evicted.
fn replay(open: Open, capacity: usize, trace: &[u64], writes: &HashSet<usize>, tell: bool) -> (String, Value) {
    let (mut ask, mut hits, mut cached, mut evicted) = (open(capacity), String::new(), BTreeSet::new(), json!({}));
    for (number, &block) in trace.iter().enumerate() {
        let hit = ask(block, if writes.contains(&number) { Ask::Write } else { Ask::Read });
        hits.push(if hit { '1' } else { '0' });
        if tell {
            let (kept, gone): (Vec<u64>, Vec<u64>) = cached.iter().partition(|&&each| ask(each, Ask::Holds));
            if !gone.is_empty() {
                evicted[number.to_string()] = json!(gone);
            }
            cached = kept.into_iter().chain(Some(block).filter(|&b| ask(b, Ask::Holds))).collect();
        }
    }
    (hits, evicted)
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|word| word.parse().expect("a block number")).collect()
}

fn array(value: &Value) -> Vec<u64> {
    value.as_array().map(|items| items.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
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
        println!("{}", replay(open, capacity, &numbers(&text), &HashSet::new(), false).0);
        return;
    }
    let path = Path::new(&arguments[1]);
    let suite: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("vectors")).expect("JSON");
    for v in suite["vectors"].as_array().unwrap() {
        if kind == "certain" && v["parameters"].is_null() {
            let writes = array(&v["writes"]).into_iter().map(|n| n as usize).collect();
            let capacity = v["capacity"].as_u64().unwrap() as usize;
            let (hits, evicted) = replay(open, capacity, &array(&v["trace"]), &writes, true);
            println!("{}", json!({"id": v["id"], "hits": hits, "evicted": evicted}));
        }
    }
    let runs: usize = arguments.get(2).map_or(1, |text| text.parse().expect("a number of runs"));
    for v in suite["long"].as_array().unwrap() {
        let file = path.parent().unwrap().join(v["file"].as_str().unwrap());
        let trace = numbers(&std::fs::read_to_string(file).expect("a trace"));
        for _ in 0..runs {
            let capacity = v["capacity"].as_u64().unwrap() as usize;
            let (hits, _) = replay(open, capacity, &trace, &HashSet::new(), false);
            println!("{}", json!({"id": v["id"], "hits": hits}));
        }
    }
}
