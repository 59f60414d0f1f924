"""Dispute: S3-FIFO and SIEVE against W-TinyLFU, ARC, LIRS and 2Q, on published results and on traces at hand."""
