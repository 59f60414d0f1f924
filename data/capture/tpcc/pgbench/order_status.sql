\set w random(1, :warehouses)
CALL order_status(:w);
