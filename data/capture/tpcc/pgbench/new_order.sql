\set w random(1, :warehouses)
CALL new_order(:w, :warehouses);
