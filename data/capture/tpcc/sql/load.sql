-- Initial population (specification 5.11, clause 4.3.3): one set-based statement for each table and warehouse.
-- C-Load of NURand(255) for last names is 157; the transactions run with 223 (difference 66, clause 2.1.6.1).

CREATE PROCEDURE load_items() LANGUAGE plpgsql AS $$
DECLARE
    pool text := (SELECT letters.pool FROM letters);
BEGIN
    INSERT INTO item
    SELECT i, uniform(1, 10000), cut(pool, 14, 24), uniform(100, 10000) / 100.0, cut_data(pool)
    FROM generate_series(1, 100000) AS i;
END $$;

CREATE PROCEDURE load_warehouse(w integer) LANGUAGE plpgsql AS $$
DECLARE
    pool text := (SELECT letters.pool FROM letters);
    names varchar[] := (SELECT array_agg(last_name(n) ORDER BY n) FROM generate_series(0, 999) AS n);
    today timestamp := localtimestamp;
BEGIN
    INSERT INTO warehouse
    SELECT w, cut(pool, 6, 10), cut(pool, 10, 20), cut(pool, 10, 20), cut(pool, 10, 20), upper(cut(pool, 2, 2)),
           lpad(uniform(0, 9999)::text, 4, '0') || '11111', uniform(0, 2000) / 10000.0, 300000;

    INSERT INTO district
    SELECT d, w, cut(pool, 6, 10), cut(pool, 10, 20), cut(pool, 10, 20), cut(pool, 10, 20), upper(cut(pool, 2, 2)),
           lpad(uniform(0, 9999)::text, 4, '0') || '11111', uniform(0, 2000) / 10000.0, 30000, 3001
    FROM generate_series(1, 10) AS d;

    INSERT INTO stock
    SELECT i, w, uniform(10, 100),
           cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24),
           cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24), cut(pool, 24, 24),
           0, 0, 0, cut_data(pool)
    FROM generate_series(1, 100000) AS i;

    INSERT INTO customer
    SELECT c, d, w, cut(pool, 8, 16), 'OE',
           names[CASE WHEN c <= 1000 THEN c ELSE 1 + nurand(255, 0, 999, 157) END],
           cut(pool, 10, 20), cut(pool, 10, 20), cut(pool, 10, 20), upper(cut(pool, 2, 2)),
           lpad(uniform(0, 9999)::text, 4, '0') || '11111',
           lpad(uniform(0, 99999999)::text, 8, '0') || lpad(uniform(0, 99999999)::text, 8, '0'),
           today, CASE WHEN random() < 0.1 THEN 'BC' ELSE 'GC' END, 50000, uniform(0, 5000) / 10000.0,
           -10, 10, 1, 0, cut(pool, 300, 500)
    FROM generate_series(1, 10) AS d, generate_series(1, 3000) AS c;

    INSERT INTO history
    SELECT c, d, w, d, w, today, 10, cut(pool, 12, 24)
    FROM generate_series(1, 10) AS d, generate_series(1, 3000) AS c;

    -- Every customer has one order; customers are dealt to order numbers by a random permutation.
    -- Orders from 2101 on are undelivered: no carrier, no delivery date, an amount still to be paid.
    WITH placed AS (
        INSERT INTO orders
        SELECT o, d, w, c, today, CASE WHEN o <= 2100 THEN uniform(1, 10) END, uniform(5, 15), 1
        FROM (SELECT row_number() OVER (PARTITION BY d ORDER BY random()) AS o, d, c
              FROM generate_series(1, 10) AS d, generate_series(1, 3000) AS c) AS dealt
        RETURNING o_id, o_d_id, o_ol_cnt
    ), undelivered AS (
        INSERT INTO new_order SELECT o_id, o_d_id, w FROM placed WHERE o_id > 2100
    )
    INSERT INTO order_line
    SELECT o_id, o_d_id, w, number, uniform(1, 100000), w, CASE WHEN o_id <= 2100 THEN today END, 5,
           CASE WHEN o_id <= 2100 THEN 0 ELSE uniform(1, 999999) / 100.0 END, cut(pool, 24, 24)
    FROM placed, generate_series(1, o_ol_cnt) AS number;
END $$;

-- Load the warehouses first to last, each in a transaction of its own.
CREATE PROCEDURE load_warehouses(first integer, last integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR w IN first .. last LOOP
        CALL load_warehouse(w);
        COMMIT;
    END LOOP;
END $$;
