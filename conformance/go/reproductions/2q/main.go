// hashicorp.2Q, capacity 4, trace 1 2 3 4 1 5 1: prints 0000101; 2q has 0000100
//
// The paper's simplified version has 0000101 as well. But with capacity 3 on 1 2 3 4 1 2 3 4 1 2 3 it has 00000000000,
// and the library prints 00000000001. The library therefore implements neither version.
package main

import (
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
)

func main() {
	cache, err := lru.New2Q[int, bool](4)
	if err != nil {
		panic(err)
	}
	for _, block := range []int{1, 2, 3, 4, 1, 5, 1} {
		if _, hit := cache.Get(block); hit {
			fmt.Print("1")
		} else {
			fmt.Print("0")
			cache.Add(block, true)
		}
	}
	fmt.Println()
}
