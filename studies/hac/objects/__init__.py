"""Build OO7's object databases on pages, and the client caches through which programs access them.

`oo7` generates databases, `cache` defines the client caches HAC, FPC, CLOCK and GOM, and `traversals` runs OO7's
operations on them.
"""
