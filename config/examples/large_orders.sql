-- Orders of 1,000 or more: of each the newest update that says so, for WHERE comes before the flow.
CREATE OR REFRESH STREAMING TABLE large_orders
FLOW REPLACE USING (order_id) SEQUENCE BY updated_at BY NAME
SELECT order_id, state, amount, updated_at FROM STREAM(orders) WHERE amount >= 1000;
