-- No slot is ever sold beyond the server's GPUs. Capacity and use change in one UPDATE.
ALTER TABLE marketplace_serverday ADD CONSTRAINT marketplace_server_day_within_capacity CHECK (
    array_ndims(used) = 1
    AND cardinality(used) = 96
    AND array_position(used, NULL) IS NULL
    AND 0 <= ALL (used)
    AND capacity >= ALL (used)
);
