import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.cache.CacheBuilder;
import com.google.gson.Gson;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * Run conformance vectors through a cache of a Java library, and print its outcomes.
 *
 * <pre>
 * Adapter list                           the caches: name, library, version, policy, certain or chance
 * Adapter guava.Cache VECTORS [RUNS]     VECTORS: a file such as lru.json
 * Adapter guava.Cache 2 "1 2 1 3 2"      one trace on a cache of 2 blocks; @FILE reads it
 * </pre>
 */
public final class Adapter {
  /** A cache as a map of blocks, whose containsKey does not count as a use, and an action that completes evictions. */
  record Cache(Map<Long, Boolean> blocks, Runnable settle) {
    /** Return whether a block was in the cache, and load it if it was not; a write loads it without a look-up. */
    boolean access(long block, boolean write) {
      boolean hit = write ? blocks.containsKey(block) : blocks.get(block) != null;
      if (write || !hit) {
        blocks.put(block, true);
      }
      settle.run();
      return hit;
    }
  }

  record Entry(String library, String version, String policy, boolean certain, IntFunction<Cache> open) {}

  record Vector(String id, int capacity, Map<String, Object> parameters, long[] trace, Set<Integer> writes, String file) {}

  record Suite(List<Vector> vectors, List<Vector> longs) {}

  static final Map<String, Entry> CACHES = new TreeMap<>(Map.of(
      "caffeine.Cache", new Entry("com.github.ben-manes.caffeine", "3.3.1", "wtinylfu", false, Adapter::caffeine),
      "guava.Cache", new Entry("com.google.guava", "33.8.0-jre", "lru", true, Adapter::guava),
      "java.util.LinkedHashMap",
          new Entry("java", Runtime.version().toString(), "lru", true, Adapter::linkedHashMap)));

  /** Make a cache whose maintenance runs in the calling thread and is finished before the next reference. */
  static Cache caffeine(int capacity) {
    var cache = Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run).<Long, Boolean>build();
    return new Cache(cache.asMap(), cache::cleanUp);
  }

  /** Make a cache of a single segment, because Guava divides the maximum size between segments. */
  static Cache guava(int capacity) {
    var cache = CacheBuilder.newBuilder().maximumSize(capacity).concurrencyLevel(1).<Long, Boolean>build();
    return new Cache(cache.asMap(), cache::cleanUp);
  }

  static Cache linkedHashMap(int capacity) {
    var cache = new LinkedHashMap<Long, Boolean>(16, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
        return size() > capacity;
      }
    };
    return new Cache(cache, () -> {});
  }

  /** Return the outcomes (1 for a hit) and, if tell is set, the blocks that each reference evicted. */
  static Map<String, Object> replay(Entry entry, int capacity, long[] trace, Set<Integer> writes, boolean tell) {
    Cache cache = entry.open().apply(capacity);
    var hits = new StringBuilder();
    var evicted = new TreeMap<Integer, List<Long>>();
    var cached = new TreeSet<Long>();
    for (int number = 0; number < trace.length; number++) {
      hits.append(cache.access(trace[number], writes != null && writes.contains(number)) ? '1' : '0');
      if (tell) {
        var gone = cached.stream().filter(block -> !cache.blocks().containsKey(block)).toList();
        if (!gone.isEmpty()) {
          evicted.put(number, gone);
        }
        cached.add(trace[number]);
        cached.removeIf(block -> !cache.blocks().containsKey(block));
      }
    }
    return tell ? Map.of("hits", hits.toString(), "evicted", evicted) : Map.of("hits", hits.toString());
  }

  static long[] numbers(String text) {
    var trace = new ArrayList<Long>();
    for (String word : text.trim().split("\\s+")) {
      trace.add(Long.parseLong(word));
    }
    return trace.stream().mapToLong(Long::longValue).toArray();
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("list")) {
      CACHES.forEach((name, e) -> System.out.println(
          String.join("\t", name, e.library(), e.version(), e.policy(), e.certain() ? "certain" : "chance")));
      return;
    }
    Entry entry = CACHES.get(arguments[0]);
    if (arguments[1].matches("[0-9]+")) {
      String text = arguments[2].startsWith("@") ? Files.readString(Path.of(arguments[2].substring(1))) : arguments[2];
      System.out.println(replay(entry, Integer.parseInt(arguments[1]), numbers(text), null, false).get("hits"));
      return;
    }
    Path path = Path.of(arguments[1]);
    var suite = new Gson().fromJson(Files.readString(path).replace("\"long\":", "\"longs\":"), Suite.class);
    for (Vector v : suite.vectors()) {
      if (entry.certain() && v.parameters() == null) {
        print(v.id(), replay(entry, v.capacity(), v.trace(), v.writes(), true));
      }
    }
    int runs = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1;
    for (Vector v : suite.longs()) {
      long[] trace = numbers(Files.readString(path.resolveSibling(v.file())));
      for (int run = 0; run < runs; run++) {
        print(v.id(), replay(entry, v.capacity(), trace, null, false));
      }
    }
  }

  static void print(String id, Map<String, Object> told) {
    var record = new TreeMap<>(told);
    record.put("id", id);
    System.out.println(new Gson().toJson(record));
  }
}
