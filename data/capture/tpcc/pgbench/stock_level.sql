\set w random(1, :warehouses)
CALL stock_level(:w);
