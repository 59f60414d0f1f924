"""Build object databases on pages, and the client caches that programs run on: OO7, HAC, FPC, GOM.

`oo7` generates databases, `cache` holds the client caches, `traversals` runs OO7's operations on them.
"""
