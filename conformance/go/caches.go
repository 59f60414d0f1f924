package main

import (
	theine "github.com/Yiling-J/theine-go"
	"github.com/hashicorp/golang-lru/arc/v2"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/maypok86/otter/v2"
)

var caches = map[string]entry{
	"hashicorp.LRU": {"github.com/hashicorp/golang-lru/v2", "lru", true, true, 1, openLRU},
	"hashicorp.2Q":  {"github.com/hashicorp/golang-lru/v2", "2q", true, true, 2, open2Q},
	"hashicorp.ARC": {"github.com/hashicorp/golang-lru/arc/v2", "arc", true, true, 1, openARC},
	"otter.Cache":   {"github.com/maypok86/otter/v2", "wtinylfu", false, false, 1, openOtter},
	"theine-go":     {"github.com/Yiling-J/theine-go", "wtinylfu", false, false, 1, openTheine},
}

// The three caches of hashicorp have the same methods.
type hashicorp struct {
	get      func(uint64) (bool, bool)
	contains func(uint64) bool
	add      func(uint64)
}

func (c hashicorp) reference(block uint64, write bool) bool {
	if write {
		hit := c.contains(block)
		c.add(block)
		return hit
	}
	_, hit := c.get(block)
	if !hit {
		c.add(block)
	}
	return hit
}

func (c hashicorp) holds(block uint64) bool { return c.contains(block) }

func openLRU(capacity int) cache {
	c := must(lru.New[uint64, bool](capacity))
	return hashicorp{c.Get, c.Contains, func(block uint64) { c.Add(block, true) }}
}

func open2Q(capacity int) cache {
	c := must(lru.New2Q[uint64, bool](capacity))
	return hashicorp{c.Get, c.Contains, func(block uint64) { c.Add(block, true) }}
}

func openARC(capacity int) cache {
	c := must(arc.NewARC[uint64, bool](capacity))
	return hashicorp{c.Get, c.Contains, func(block uint64) { c.Add(block, true) }}
}

// Otter postpones evictions; CleanUp carries them out after each load. Otter's hash has a random seed.
type otterCache struct{ *otter.Cache[uint64, bool] }

func (c otterCache) reference(block uint64, write bool) bool {
	_, hit := c.GetIfPresent(block)
	if !hit {
		c.Set(block, true)
		c.CleanUp()
	}
	return hit
}

func openOtter(capacity int) cache {
	return otterCache{must(otter.New(&otter.Options[uint64, bool]{
		MaximumSize: capacity,
		Executor:    func(task func()) { task() },
	}))}
}

// Theine evicts in the background; Wait waits for the eviction after each load.
type theineCache struct{ *theine.Cache[uint64, bool] }

func (c theineCache) reference(block uint64, write bool) bool {
	_, hit := c.Get(block)
	if !hit {
		c.Set(block, true, 1)
		c.Wait()
	}
	return hit
}

func openTheine(capacity int) cache {
	return theineCache{must(theine.NewBuilder[uint64, bool](int64(capacity)).Build())}
}
