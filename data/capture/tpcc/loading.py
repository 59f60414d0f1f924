"""Load the schema, population, indexes and transactions of TPC-C into a new cluster."""

import re
import shutil
from pathlib import Path

from cluster import DATABASE, Cluster

from misspenalty.record.tracer import CaptureError

SQL = Path(__file__).parent / "sql"
BYTES_PER_WAREHOUSE = 125 << 20  # about 110 MiB were measured; the rest is for growth and sort files
FREE_SPACE_RESERVE = 6 << 30
LOAD_SETTINGS = {
    "shared_buffers": "1GB",
    "maintenance_work_mem": "1GB",
    "max_parallel_maintenance_workers": "0",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
}

# If these plans are disabled, all accesses use indexes and all joins are plain nested loops, whatever the statistics.
PLANS = ("hashjoin", "mergejoin", "memoize", "bitmapscan", "seqscan")


def load(cluster: Cluster, warehouses: int) -> None:
    """Create `cluster` and load `warehouses` warehouses, two sessions at a time.

    Raises
    ------
    CaptureError
        The disk is too small, a cluster exists already, or PostgreSQL fails; a half-loaded cluster is removed.
    """
    cluster.check_machine()
    cluster.work.mkdir(parents=True, exist_ok=True)
    needed = warehouses * BYTES_PER_WAREHOUSE + FREE_SPACE_RESERVE
    free = shutil.disk_usage(cluster.work).free
    if free < needed:
        raise CaptureError(
            f"{cluster.work}: {free >> 30} GiB are free, but {warehouses} warehouses need {needed >> 30} GiB; "
            "choose another --work or fewer --warehouses"
        )
    cluster.create()
    try:
        with cluster.running(**LOAD_SETTINGS):
            populate(cluster, warehouses)
            check_plan(cluster)
    except BaseException:
        shutil.rmtree(cluster.data)
        raise


def populate(cluster: Cluster, warehouses: int) -> None:
    """Create the database on an empty server, and load it."""
    cluster.run(f"CREATE DATABASE {DATABASE}", database="postgres")
    cluster.run(files=(SQL / "schema.sql", SQL / "random.sql", SQL / "load.sql", SQL / "transactions.sql"))
    half = warehouses // 2
    print(f"loading {warehouses} warehouses", flush=True)
    cluster.run_together(
        [
            ["CALL load_items()", f"CALL load_warehouses(1, {half})"],
            [f"CALL load_warehouses({half + 1}, {warehouses})"],
        ]
    )
    print("building indexes", flush=True)
    indexes = re.findall(r"^(?:ALTER|CREATE) .*?;", (SQL / "indexes.sql").read_text(), flags=re.MULTILINE)
    stock_and_lines = [statement for statement in indexes if re.search(r" (stock|order_line) ", statement)]
    others = [statement for statement in indexes if statement not in stock_and_lines]
    cluster.run_together([others, stock_and_lines])
    print("vacuum and statistics", flush=True)
    tables = ("order_line", "customer", "orders", "new_order", "warehouse", "district", "item")
    halves = ("stock", "history"), tables
    cluster.run_together([[f"VACUUM (ANALYZE) {name}" for name in half] for half in halves])
    cluster.run("DROP TABLE letters", *(f"ALTER DATABASE {DATABASE} SET enable_{plan} = off" for plan in PLANS))
    cluster.run("CHECKPOINT")


def check_plan(cluster: Cluster) -> None:
    """Raise `CaptureError` unless Stock-Level joins order lines to stock by nested loops over two indexes."""
    plan = cluster.run(
        "SET plan_cache_mode = force_generic_plan",
        "PREPARE q (integer, integer, integer, integer) AS SELECT count(DISTINCT s_i_id) FROM order_line "
        "JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_w_id = $1 AND ol_d_id = $2 "
        "AND ol_o_id BETWEEN $3 - 20 AND $3 - 1 AND s_quantity < $4",
        "EXPLAIN EXECUTE q(1, 1, 3001, 15)",
    )
    wanted = r"Nested Loop[\s\S]*Index Scan using order_line_pkey[\s\S]*Index Scan using stock_pkey"
    if not re.search(wanted, plan):
        raise CaptureError(f"Stock-Level would not run as nested loops; the plan is\n{plan}")
