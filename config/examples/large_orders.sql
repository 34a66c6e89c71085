-- Orders of 1,000 or more, in their newest state.
CREATE OR REFRESH STREAMING TABLE large_orders
FLOW REPLACE USING (order_id) SEQUENCE BY updated_at BY NAME
SELECT order_id, state, amount, updated_at FROM STREAM(orders) WHERE amount >= 1000;
