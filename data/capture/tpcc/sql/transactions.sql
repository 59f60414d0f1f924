-- The five transactions (specification 5.11, clause 2) as procedures. The caller draws the home warehouse;
-- everything else is drawn here. Run constants of NURand: 223 (last names), 259 (customers), 7911 (items).

-- A warehouse other than home, uniformly; home itself if there is only one.
CREATE FUNCTION other_warehouse(home integer, warehouses integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    drawn integer := uniform(1, greatest(warehouses - 1, 1));
BEGIN
    RETURN CASE WHEN warehouses > 1 AND drawn >= home THEN drawn + 1 ELSE drawn END;
END $$;

-- The customer of a Payment or Order-Status: 40 % are chosen by number, 60 % by last name. In the latter case, all
-- customers of that name are read, and the middle one in order of first name is taken (clauses 2.5.1.2, 2.5.2.2).
CREATE FUNCTION drawn_customer(w integer, d integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name varchar;
    namesakes integer[];
BEGIN
    IF uniform(1, 100) > 60 THEN
        RETURN nurand(1023, 1, 3000, 259);
    END IF;
    name := last_name(nurand(255, 0, 999, 223));
    namesakes := ARRAY(SELECT c_id FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = name ORDER BY c_first);
    RETURN namesakes[(cardinality(namesakes) + 1) / 2];
END $$;

-- New-Order, clause 2.4. One in a hundred names an unused item in its last line and is rolled back.
CREATE PROCEDURE new_order(w integer, warehouses integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    c integer := nurand(1023, 1, 3000, 259);
    lines integer := uniform(5, 15);
    unused boolean := uniform(1, 100) = 1;
    items integer[];
    supplies integer[];
    quantity integer;
    price numeric;
    info char(24);
    o integer;
    tax_w numeric;
    tax_d numeric;
    discount numeric;
BEGIN
    FOR n IN 1 .. lines LOOP
        items[n] := CASE WHEN unused AND n = lines THEN 100001 ELSE nurand(8191, 1, 100000, 7911) END;
        supplies[n] := CASE WHEN uniform(1, 100) = 1 THEN other_warehouse(w, warehouses) ELSE w END;
    END LOOP;
    SELECT w_tax INTO tax_w FROM warehouse WHERE w_id = w;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
        RETURNING d_next_o_id - 1, d_tax INTO o, tax_d;
    SELECT c_discount INTO discount FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    INSERT INTO orders VALUES (o, d, w, c, localtimestamp, NULL, lines, (w = ALL (supplies))::integer);
    INSERT INTO new_order VALUES (o, d, w);
    FOR n IN 1 .. lines LOOP
        SELECT i_price INTO price FROM item WHERE i_id = items[n];
        IF NOT FOUND THEN
            ROLLBACK;
            RETURN;
        END IF;
        quantity := uniform(1, 10);
        UPDATE stock
        SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity - quantity >= 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (supplies[n] <> w)::integer
        WHERE s_w_id = supplies[n] AND s_i_id = items[n]
        RETURNING CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                         WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                         WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO info;
        INSERT INTO order_line VALUES (o, d, w, n, items[n], supplies[n], NULL, quantity, quantity * price, info);
    END LOOP;
END $$;

-- Payment, clause 2.5. 15 % pay for a customer of another warehouse.
CREATE PROCEDURE payment(w integer, warehouses integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    amount numeric := uniform(100, 500000) / 100.0;
    c_w integer := w;
    c_d integer := d;
    c integer;
    name_w varchar;
    name_d varchar;
BEGIN
    IF uniform(1, 100) > 85 THEN
        c_w := other_warehouse(w, warehouses);
        c_d := uniform(1, 10);
    END IF;
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w RETURNING w_name INTO name_w;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d RETURNING d_name INTO name_d;
    c := drawn_customer(c_w, c_d);
    UPDATE customer
    SET c_balance = c_balance - amount,
        c_ytd_payment = c_ytd_payment + amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
                      THEN left(concat_ws(' ', c, c_d, c_w, d, w, amount) || c_data, 500) ELSE c_data END
    WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
    INSERT INTO history VALUES (c, c_d, c_w, d, w, localtimestamp, amount, name_w || '    ' || name_d);
END $$;

-- Order-Status, clause 2.6: a customer's last order and its lines.
CREATE PROCEDURE order_status(w integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    c integer := drawn_customer(w, d);
    o integer;
BEGIN
    PERFORM c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    SELECT o_id, o_entry_d, o_carrier_id INTO o FROM orders
    WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
    PERFORM ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
END $$;

-- Delivery, clause 2.7: the oldest undelivered order of each district.
CREATE PROCEDURE delivery(w integer) LANGUAGE plpgsql AS $$
DECLARE
    carrier integer := uniform(1, 10);
    o integer;
    c integer;
    total numeric;
BEGIN
    FOR d IN 1 .. 10 LOOP
        SELECT no_o_id INTO o FROM new_order WHERE no_w_id = w AND no_d_id = d
            ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o RETURNING o_c_id INTO c;
        WITH delivered AS (
            UPDATE order_line SET ol_delivery_d = localtimestamp WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o
            RETURNING ol_amount
        )
        SELECT sum(ol_amount) INTO total FROM delivered;
        UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    END LOOP;
END $$;

-- Stock-Level, clause 2.8: items of a district's last 20 orders whose stock is below a threshold.
CREATE PROCEDURE stock_level(w integer) LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    threshold integer := uniform(10, 20);
    next integer;
BEGIN
    SELECT d_next_o_id INTO next FROM district WHERE d_w_id = w AND d_id = d;
    PERFORM count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id BETWEEN next - 20 AND next - 1 AND s_quantity < threshold;
END $$;
