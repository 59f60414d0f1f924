// hashicorp.ARC, capacity 3, trace 1 2 3 4 1 2 3: prints 0000001; arc has 0000000
package main

import (
	"fmt"

	"github.com/hashicorp/golang-lru/arc/v2"
)

func main() {
	cache, err := arc.NewARC[int, bool](3)
	if err != nil {
		panic(err)
	}
	for _, block := range []int{1, 2, 3, 4, 1, 2, 3} {
		if _, hit := cache.Get(block); hit {
			fmt.Print("1")
		} else {
			fmt.Print("0")
			cache.Add(block, true)
		}
	}
	fmt.Println()
}
