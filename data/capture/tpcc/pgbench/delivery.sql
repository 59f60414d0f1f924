\set w random(1, :warehouses)
CALL delivery(:w);
