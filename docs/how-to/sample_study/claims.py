"""Record what the tables of the sample study show for each statement."""

from misspenalty_studies.common.claims.tables import Table, cross

TABLES = {
    "faults": Table(("policy", "frames"), ("faults",), cross(policy=("fifo",), frames=(3, 4))),
    "added": Table(("policy", "frames"), ("added_faults",), cross(policy=("fifo",), frames=(4,))),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``mine``."""
    faults = tables["faults"].faults
    record.value("mine.example.three", faults["fifo", 3])
    record.value("mine.example.four", faults["fifo", 4])
    record.bound("mine.example.more", tables["added"].added_faults["fifo", 4], neutral=0)
