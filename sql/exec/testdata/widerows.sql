-- Rows whose values each fit into a page file's row and together do not.
CREATE TABLE wide (id int PRIMARY KEY, a text, b text, c text);
INSERT INTO wide VALUES (1, repeat('a', 200000), repeat('b', 150000), 'c');
INSERT INTO wide VALUES (2, repeat('a', 262144), NULL, 'c'), (3, repeat('a', 262120), 'b', 'c');
INSERT INTO wide SELECT 10 + i, repeat('x', 100000), repeat('y', 100000), repeat('z', 100000) FROM generate_series(1, 5) i;
UPDATE wide SET c = repeat('c', 180000) WHERE id = 1;
UPDATE wide SET b = b || b WHERE id = 1;
SELECT id, length(a), length(b), length(c), md5(a || coalesce(b, '') || c) FROM wide ORDER BY id;
UPDATE wide SET a = 'short' WHERE id < 3;
SELECT id, a, length(b), length(c), md5(coalesce(b, '')) FROM wide WHERE id < 3 ORDER BY id;
DELETE FROM wide WHERE id IN (1, 11);
SELECT count(*), sum(length(a) + coalesce(length(b), 0) + length(c)) FROM wide;
DROP TABLE wide;
