"""Compare S3-FIFO and SIEVE with W-TinyLFU, ARC, LIRS and 2Q, on published results and on available traces."""
