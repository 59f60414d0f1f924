"""Study key-value caches of language models: the Mooncake trace (FAST 2025), and whether MQ helps there."""
