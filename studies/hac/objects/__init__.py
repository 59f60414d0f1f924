"""Build the object databases of OO7 on pages, and the client caches HAC, FPC, CLOCK and GOM, on which programs run.

`oo7` generates databases, `cache` defines the client caches, and `traversals` runs OO7's operations on them.
"""
