"""Define the compiled trace, which is written once and replayed many times."""

import html
import os
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from misspenalty.errors import InputError, ParameterError, check_whole
from misspenalty.io.files import atomic_path
from misspenalty.traces._compile import Interner
from misspenalty.traces.columns import (
    BY_BLOCK,
    COLUMNS,
    LARGEST_TOTAL,
    LARGEST_VALUE,
    OPTIONAL,
    as_column,
    check_block,
    check_name,
    object_sizes,
    unmasked,
)
from misspenalty.traces.meta import RequestSizes, write_meta
from misspenalty.traces.reading import Reading, counted


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """References to blocks, ready for a kernel; the arrays that a trace is made of become read-only.

    Attributes
    ----------
    ids : uint32, shape (n,)
        Dense block ids in order of first use.
    write : bool, shape (n,) or None
        Which references are writes; None if all are reads.
    time : int64, shape (n,) or None
        ns since the trace began.
    address : uint64, shape (blocks,)
        Address of each dense id in the trace's own numbering.
    block_bytes : int
        Block size.
    name, format : str
        Name of the file, table or array that the trace was made from, and the format.
    sizes : RequestSizes or None
        Sizes of the requests before they were split into blocks; None if not known.
    object_bytes : int64, shape (blocks,), or None
        Size of each object at its first reference, bytes; None if all blocks have `block_bytes`.
    request_bytes : int64, shape (n,), or None
        Size of the object at each reference, bytes; None if no object changes its size.
    reading : Reading or None
        How the file or table was understood: format, columns, units, what was left out; None for an array.

    Examples
    --------
    >>> Trace.from_blocks([7, 8, 7], write=[False, True, False])
    <Trace 'array' (array): 3 references (2 reads, 1 write) to 2 blocks of 4096 bytes, footprint 8 KB>
    """

    ids: np.ndarray
    write: np.ndarray | None
    time: np.ndarray | None
    address: np.ndarray
    block_bytes: int
    name: str
    format: str
    sizes: RequestSizes | None = None
    object_bytes: np.ndarray | None = None
    request_bytes: np.ndarray | None = None
    reading: Reading | None = None
    _known: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)  # cached counts

    def __eq__(self, other: object) -> bool:
        """Return whether another trace has the same references, names and description; cached counts are ignored.

        Examples
        --------
        >>> Trace.from_blocks([7, 8]) == Trace.from_blocks([7, 8]), Trace.from_blocks([7, 8]) == Trace.from_blocks([7])
        (True, False)
        """
        if not isinstance(other, Trace):
            return NotImplemented
        compared = [each.name for each in fields(self) if each.compare]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in compared)

    @classmethod
    def from_blocks(
        cls,
        blocks: ArrayLike,
        write: ArrayLike | None = None,
        time: ArrayLike | None = None,
        block_bytes: int = 4096,
        name: str = "array",
        object_bytes: ArrayLike | None = None,
    ) -> "Trace":
        """Return a trace of references to these blocks, in this order.

        Parameters
        ----------
        blocks : array of integers, shape (n,)
            Block addresses or ids, at least 0: a NumPy array, a pandas Series, a list.
        write : array of bool, shape (n,), optional
            Which references are writes; by default none.
        time : array of integers, shape (n,), optional
            ns since the trace began.
        block_bytes : int
            Block size; only recorded.
        name : str
            Name of the trace.
        object_bytes : array of integers, shape (n,), optional
            Size of the object at each reference, bytes.

        Raises
        ------
        ParameterError
            `blocks` is empty, is not one-dimensional, or has values that are not integers or are below 0; another value
            is invalid; or the columns differ in length.
        InputError
            The sizes add up to more than 2**62 bytes.

        Examples
        --------
        >>> import numpy as np
        >>> Trace.from_blocks(np.array([300, 100, 300])).ids.tolist()
        [0, 1, 0]
        """
        given = unmasked(blocks, "blocks")
        if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
            text = given.size and isinstance(given.flat[0], str)
            remedy = "; give keys that are text as a table, {'key': …}" if text else ""
            raise ParameterError(
                f"blocks are of type {given.dtype} and shape {given.shape}; expected a one-dimensional array of"
                f" at least one integer{remedy}"
            )
        if given.dtype.kind == "i" and given.min() < 0:
            raise ParameterError(f"block {given.min()} at position {int(given.argmin())}; expected 0 or more")
        interner = Interner()
        ids = interner.ids(np.ascontiguousarray(given, np.uint64))
        each = None if object_bytes is None else as_column(object_bytes, "object_bytes", np.int64, "iu")
        if each is not None and each.shape != ids.shape:
            raise ParameterError(f"object_bytes has shape {each.shape}; expected {ids.shape}, one size per reference")
        if each is not None and each.min() < 0:
            raise ParameterError(f"object_bytes is {each.min()} at position {int(each.argmin())}; expected 0 or more")
        first, changing = object_sizes(ids, each)
        return cls(
            ids,
            None if write is None else as_column(write, "write", np.bool_, "b"),
            None if time is None else as_column(time, "time", np.int64, "iu"),
            interner.addresses_by_id(),
            check_block(block_bytes),
            name,
            "array",
            object_bytes=first,
            request_bytes=changing,
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        columns: "dict[str, Any] | str | None" = None,
        *,
        block_bytes: int = 4096,
        name: str = "table",
        **options: Any,
    ) -> "Trace":
        """Return the trace of the rows of a table.

        Parameters
        ----------
        table : DataFrame, Series, pyarrow.Table, RecordBatch, dict or array of records
            A pandas or polars frame, a pandas Series with a name, an Arrow table, a dict of columns, or a NumPy array
            with fields. Keys may be numbers or text. A named level of a pandas index is a column, too, unless another
            column has its name or role; an unnamed level of dates is called ``time``.
        columns : dict or str, optional
            Column of each role, ``{"block": "key"}`` or ``"block=key"``, with the roles of
            `misspenalty.traces.vocabulary`; other columns have the roles that their names imply, as in a file.
        block_bytes : int
            Block size into which byte ranges are split.
        name : str
            Name of the trace.
        **options
            ``operations``, ``time_unit``, ``address_unit``, ``size_unit``, ``key``, ``order`` and ``lifetimes``, as in
            `misspenalty.open_trace`. Unless `time_unit` or the column's name states a unit, times that are whole
            numbers are ns; the unit of other times is guessed from the first, as in a file.

        Raises
        ------
        InputError
            No column holds the block or address of a request, columns have roles that are the same, exclude each other
            or are unclear, a value cannot be read, or the sizes add up to more than 2**62 bytes.
        ParameterError
            A role, an option or the block size is invalid, or `table` is not a table or has no requests.

        Examples
        --------
        >>> import pandas as pd
        >>> Trace.from_table(pd.DataFrame({"key": ["a", "b", "a"], "op": ["GET", "SET", "GET"]})).write.tolist()
        [False, True, False]
        """
        from misspenalty.traces.frames import references  # the import takes longer than opening most traces

        found = references(table, check_block(block_bytes), columns=columns, **options)
        return cls(**found, block_bytes=block_bytes, name=name, format="table")

    def info(self) -> None:
        """Print what the trace contains, and how its file or table was read.

        Examples
        --------
        >>> Trace.from_blocks([7, 8, 7], write=[False, True, False], time=[0, 5, 7]).info()
        trace       array (array)
        references  3 (2 reads, 1 write)
        blocks      2 blocks of 4096 bytes, footprint 8 KB
        columns     write, time
        seconds     7e-09
        """
        writes = len(self) - self.reads
        each = f"{counted(self.reads, 'reads')}, {counted(writes, 'writes')}"
        lines = {"trace": f"{self.name} ({self.format})", "references": f"{len(self):,} ({each})"}
        lines["blocks"] = self._extent()
        lines["columns"] = ", ".join(column for column in ("write", "time", "object_bytes")
                                     if getattr(self, column) is not None) or "none but the block"  # fmt: skip
        if self.time is not None and len(self):
            lines["seconds"] = f"{(int(self.time.max()) - int(self.time.min())) / 1e9:g}"
        if self.size_changes:
            many = "reference requests" if self.size_changes == 1 else "references request"
            lines["sizes"] = f"{self.size_changes:,} {many} a size different from the one before"
        read = {} if self.reading is None else self.reading.describe()
        told = [f"{name:<11} {text}" for name, text in lines.items()]
        told += ["", "read as", *(f"{name:<11} {text}" for name, text in read.items())] if read else []
        print("\n".join(told))

    def to_numpy(self) -> dict[str, np.ndarray]:
        """Return the references as arrays, by column: ``block``, and, if the trace has them, ``write, time,
        object_bytes``.

        Examples
        --------
        >>> Trace.from_blocks([7, 8, 7]).to_numpy()
        {'block': array([7, 8, 7], dtype=uint64)}
        """
        return self._part(slice(None))

    def _part(self, part: slice) -> dict[str, np.ndarray]:
        columns = {"block": self.address[self.ids[part]]}
        columns |= {name: values[part] for name in ("write", "time") if (values := getattr(self, name)) is not None}
        if self.object_bytes is not None:
            columns["object_bytes"] = self.bytes_of(part)
        return {name: np.asarray(values) for name, values in columns.items()}

    def to_pandas(self) -> Any:
        """Return the references as a pandas DataFrame; columns as in `to_numpy`.

        Examples
        --------
        >>> Trace.from_blocks([7, 8], write=[True, False]).to_pandas().shape
        (2, 2)
        """
        import pandas as pd

        return pd.DataFrame(self.to_numpy())

    def to_arrow(self) -> Any:
        """Return the references as a `pyarrow.Table`; columns as in `to_numpy`.

        Examples
        --------
        >>> Trace.from_table(Trace.from_blocks([7, 8, 7]).to_arrow()).ids.tolist()
        [0, 1, 0]
        """
        import pyarrow as pa

        return pa.table(self.to_numpy())

    def __post_init__(self) -> None:
        for what in ("name", "format"):
            object.__setattr__(self, what, check_name(what, getattr(self, what)))
        for column, dtype in COLUMNS.items():
            values = getattr(self, column)
            if values is None and column in OPTIONAL:
                continue
            if getattr(values, "dtype", None) != dtype or values.ndim != 1:
                raise ParameterError(
                    f"trace {self.name}: column {column} is not a one-dimensional {np.dtype(dtype).name} array"
                )
            expected = self.address if column in BY_BLOCK else self.ids
            if len(values) != len(expected):
                what = "blocks" if column in BY_BLOCK else "references"
                raise ParameterError(
                    f"trace {self.name}: column {column} has {len(values)} entries for {len(expected)} {what}"
                )
            if type(values) not in (np.ndarray, np.memmap) or not values.flags.c_contiguous:
                values = np.ascontiguousarray(unmasked(values, f"trace {self.name}: column {column}"))
                object.__setattr__(self, column, values)
            values.flags.writeable = False  # cached counts stay valid, since the arrays cannot change
        object.__setattr__(self, "block_bytes", check_block(self.block_bytes))  # NumPy's integers overflow
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Raise a `ParameterError` if a size is negative, and an `InputError` if the bytes of all references, or of all
        objects, add up to more than 2**62."""
        columns = [sizes for sizes in (self.object_bytes, self.request_bytes) if sizes is not None]
        if any(int(sizes.min(initial=0)) < 0 for sizes in columns):
            raise ParameterError(f"trace {self.name}: a size is negative; expected 0 bytes or more")
        most = max((int(sizes.max(initial=0)) for sizes in columns), default=0)
        if most * max(len(self), self.blocks) > LARGEST_TOTAL and len(self):
            self.check()
            total = max(self.bytes_of(slice(None)).sum(dtype=float), columns[0].sum(dtype=float))
            if total > LARGEST_TOTAL:
                raise InputError(
                    f"trace {self.name}: its sizes add up to {total:.3g} bytes",
                    expected="at most 2**62",
                    remedy="give sizes in a larger unit",
                )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copied or unpickled trace: make its arrays read-only, and start with an empty cache of counts."""
        self.__dict__.update(state | {"_known": {}})
        self.__post_init__()

    def __repr__(self) -> str:
        writes = len(self) - self.reads
        each = counted(self.reads, "reads") + (f", {counted(writes, 'writes')}" if writes else "")
        return f"<Trace {self.name!r} ({self.format}): {counted(len(self), 'references')} ({each}) to {self._extent()}>"

    def _extent(self) -> str:
        if self.object_bytes is not None:
            return f"{counted(self.blocks, 'objects')}, footprint {format_bytes(self.footprint_bytes)}"
        return (
            f"{counted(self.blocks, 'blocks')} of {self.block_bytes} bytes,"
            f" footprint {format_bytes(self.footprint_bytes)}"
        )

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the text of ``repr`` and a table of the first references."""
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.head().to_html(index=False)}"

    def head(self, references: int = 5) -> Any:
        """Return the first references as a pandas DataFrame; columns as in `to_numpy`.

        Raises
        ------
        ParameterError
            `references` is not a whole number of at least 0.

        Examples
        --------
        >>> Trace.from_blocks([7, 8, 7]).head(2)["block"].tolist()
        [7, 8]
        """
        import pandas as pd

        return pd.DataFrame(self._part(slice(check_whole("references", references, 0, LARGEST_VALUE))))

    def __len__(self) -> int:
        return int(self.ids.shape[0])

    @property
    def footprint_bytes(self) -> int:
        """Total bytes of all distinct blocks or objects."""
        if self.object_bytes is not None:
            return int(self.object_bytes.sum())
        return self.blocks * self.block_bytes

    def bytes_of(self, part: slice | np.ndarray) -> np.ndarray:
        """Return the number of bytes that each reference in a part of the trace requests, int64.

        Examples
        --------
        >>> Trace.from_blocks([7, 8, 7], object_bytes=[10, 20, 30]).bytes_of(slice(1, 3)).tolist()
        [20, 30]
        """
        if self.request_bytes is not None:
            return np.asarray(self.request_bytes[part])
        if self.object_bytes is not None:
            return np.asarray(self.object_bytes[self.ids[part]])
        return np.full(len(self.ids[part]), self.block_bytes, np.int64)

    @property
    def size_changes(self) -> int:
        """Number of references at which an object's size differs from its size at the previous reference to it.

        The number is computed once and cached.
        """
        if self.request_bytes is None:
            return 0
        if "size_changes" not in self._known:
            order = np.argsort(self.ids, kind="stable")
            same = self.ids[order][1:] == self.ids[order][:-1]
            size = self.request_bytes[order]
            self._known["size_changes"] = int(np.count_nonzero(same & (size[1:] != size[:-1])))
        return int(self._known["size_changes"])

    @property
    def blocks(self) -> int:
        """Number of distinct blocks; every id is below this number."""
        return int(self.address.shape[0])

    @property
    def reads(self) -> int:
        """Number of references that are reads; computed once, then cached."""
        if "reads" not in self._known:
            writes = 0 if self.write is None else int(np.count_nonzero(self.write))
            self._known["reads"] = len(self) - writes
        return int(self._known["reads"])

    def check(self) -> None:
        """Raise an `InputError` if an id is not below `blocks`; the ids are checked only once.

        Given such an id, a kernel would read beyond its arrays.
        """
        if "checked" not in self._known:
            largest = int(self.ids.max()) if len(self) else -1
            if largest >= self.blocks:
                raise InputError(
                    f"trace {self.name}: id {largest} in column ids is damaged or not dense",
                    expected=f"ids below {self.blocks}, the number of blocks in column address",
                    remedy="compile the trace again, or make it with Trace.from_blocks",
                )
            self._known["checked"] = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the compiled trace, atomically, as a folder that `open_trace` can open.

        Raises
        ------
        InputError
            The folder cannot be written, its name is too long, or the disk is full.
        """
        with atomic_path(path) as partial:
            partial.mkdir()
            for column in COLUMNS:
                values = getattr(self, column)
                if values is not None:
                    with open(partial / column, "wb") as file:
                        file.write(np.ascontiguousarray(values).data)  # tofile would hide that the disk is full
            write_meta(
                partial, len(self), self.blocks, self.block_bytes, self.name, self.format, self.sizes, self.reading
            )


def format_bytes(size: float) -> str:
    """Return a size as text, such as ``1.5 GB`` (1 GB = 2**30 bytes).

    The number is rounded to three significant digits or, from 100 on, to a whole number.

    Examples
    --------
    >>> format_bytes(8192), format_bytes(3 << 29)
    ('8 KB', '1.5 GB')
    """
    units = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
    step = min(max(int(size).bit_length() - 1, 0) // 10, len(units) - 1)
    value = size / (1 << 10 * step)
    return f"{value:.0f} {units[step]}" if value >= 100 else f"{value:.3g} {units[step]}"
