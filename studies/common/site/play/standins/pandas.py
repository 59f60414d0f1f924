"""Stand in for pandas in the browser: tables are lists of rows, which is all that a replay needs."""


class DataFrame:
    """A list of rows, each a dict, made from such a list or from a dict of columns."""

    def __init__(self, given):
        self.attrs = {}
        if isinstance(given, DataFrame):
            given = given.rows
        if isinstance(given, dict):
            size = max(
                len(values) for values in given.values() if hasattr(values, "__len__") and not isinstance(values, str)
            )
            columns = {
                name: values.tolist() if hasattr(values, "tolist") else [values] * size
                for name, values in given.items()
            }
            given = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        self.rows = given

    def to_dict(self, orient):
        """Return the rows."""
        assert orient == "records"
        return self.rows

    def astype(self, kinds):
        """Return the table itself, because every number in its rows keeps its own type."""
        return self

    def drop(self, columns):
        """Return the table without one column."""
        return DataFrame([{name: value for name, value in row.items() if name != columns} for row in self.rows])


def concat(tables, ignore_index):
    """Return the rows of tables one after another."""
    return DataFrame([row for table in tables for row in table.rows])
