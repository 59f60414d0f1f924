// Run conformance vectors through a cache of a Go library, and print its outcomes.
//
//	conformance list                                  the caches: name, library, version, policy, certain or chance
//	conformance hashicorp.LRU VECTORS [RUNS]          VECTORS: a file such as lru.json
//	conformance hashicorp.LRU 2 "1 2 1 3 2"           one trace on a cache of 2 blocks; @FILE reads it
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// A cache returns whether a block was in it, and loads the block if it was not; a write loads it without a look-up.
type cache interface {
	reference(block uint64, write bool) bool
}

// Most caches can also report whether they hold a block without counting a use; replay finds evictions with holds.
type holder interface{ holds(block uint64) bool }

type entry struct {
	module, policy string
	certain        bool // whether the same references always have the same outcomes
	writes         bool // whether vectors with writes can be run, which requires a look-up that counts as no use
	least          int  // smallest capacity that the cache accepts
	open           func(capacity int) cache
}

type vectors struct {
	Vectors []struct {
		ID         string         `json:"id"`
		Capacity   int            `json:"capacity"`
		Parameters map[string]any `json:"parameters"`
		Trace      []uint64       `json:"trace"`
		Writes     []int          `json:"writes"`
	} `json:"vectors"`
	Long []struct {
		ID       string `json:"id"`
		Capacity int    `json:"capacity"`
		File     string `json:"file"`
	} `json:"long"`
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func numbers(text string) []uint64 {
	var trace []uint64
	for _, word := range strings.Fields(text) {
		trace = append(trace, must(strconv.ParseUint(word, 10, 64)))
	}
	return trace
}

// replay returns the outcomes (1 for a hit) and, if tell is set and the cache is a holder, the blocks that each
// reference evicted.
func replay(e entry, capacity int, trace []uint64, writes []int, tell bool) map[string]any {
	c, hits, evicted, cached := e.open(capacity), make([]byte, len(trace)), map[int][]uint64{}, []uint64{}
	h, tells := c.(holder)
	for number, block := range trace {
		hits[number] = '0'
		if c.reference(block, slices.Contains(writes, number)) {
			hits[number] = '1'
		}
		if !tell || !tells {
			continue
		}
		before := cached
		cached = slices.DeleteFunc(append([]uint64{block}, before...), func(each uint64) bool { return !h.holds(each) })
		gone := slices.DeleteFunc(before, h.holds)
		if len(gone) > 0 {
			slices.Sort(gone)
			evicted[number] = slices.Compact(gone)
		}
	}
	if !tell || !tells {
		return map[string]any{"hits": string(hits)}
	}
	return map[string]any{"hits": string(hits), "evicted": evicted}
}

func printed(id string, told map[string]any) {
	told["id"] = id
	fmt.Println(string(must(json.Marshal(told))))
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return "unknown"
}

func main() {
	if os.Args[1] == "list" {
		for name, e := range caches {
			chance := map[bool]string{true: "certain", false: "chance"}[e.certain]
			fmt.Printf("%s\t%s\t%s\t%s\t%s\n", name, e.module, version(e.module), e.policy, chance)
		}
		return
	}
	e, known := caches[os.Args[1]]
	if !known {
		fmt.Fprintln(os.Stderr, "no such cache:", os.Args[1])
		os.Exit(1)
	}
	if capacity, err := strconv.Atoi(os.Args[2]); err == nil {
		text := os.Args[3]
		if strings.HasPrefix(text, "@") {
			text = string(must(os.ReadFile(text[1:])))
		}
		fmt.Println(replay(e, capacity, numbers(text), nil, false)["hits"])
		return
	}
	runs := 1
	if len(os.Args) > 3 {
		runs = must(strconv.Atoi(os.Args[3]))
	}
	var suite vectors
	if err := json.Unmarshal(must(os.ReadFile(os.Args[2])), &suite); err != nil {
		must(0, err)
	}
	for _, v := range suite.Vectors {
		if e.certain && v.Capacity >= e.least && len(v.Parameters) == 0 && (e.writes || len(v.Writes) == 0) {
			printed(v.ID, replay(e, v.Capacity, v.Trace, v.Writes, true))
		}
	}
	for _, v := range suite.Long {
		trace := numbers(string(must(os.ReadFile(filepath.Join(filepath.Dir(os.Args[2]), v.File)))))
		for range runs {
			printed(v.ID, replay(e, v.Capacity, trace, nil, false))
		}
	}
}
