"""Prefetch data: `sequential` reads ahead in streams of blocks; `predictors` predicts which file is opened next."""
