"""Prefetch data: `sequential` reads ahead of streams of blocks, `predictors` predict which file is opened next."""
