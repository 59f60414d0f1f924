\set w random(1, :warehouses)
CALL payment(:w, :warehouses);
