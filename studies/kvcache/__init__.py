"""Key-value caches of language models: the Mooncake trace (FAST 2025), and MQ's question of 2001 asked of it."""
