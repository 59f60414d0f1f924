"""Stands in for pyarrow in the browser: zstd, which Python's own library decompresses. There is no Parquet."""

from compression import zstd

ArrowException = zstd.ZstdError


def OSFile(path):
    """A file by its path."""
    return path


def CompressedInputStream(path, kind):
    """A stream of a file's decompressed content."""
    return zstd.open(path)


class _Types:
    """Tests of a column's type, which only readers of Parquet would call."""

    def __getattr__(self, name):
        return None


types = _Types()
