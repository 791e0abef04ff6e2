-- The shop as PostgreSQL keeps it, with the orders of the last minutes.
CREATE TYPE order_status AS ENUM ('placed', 'shipped', 'cancelled');

CREATE TABLE customers (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  city text,
  changed_at timestamptz NOT NULL
);

CREATE TABLE products (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  price numeric(12, 2) NOT NULL,
  stock integer NOT NULL CHECK (stock >= 0),
  reorder_at integer NOT NULL,
  changed_at timestamptz NOT NULL
);

CREATE TABLE orders (
  id bigint PRIMARY KEY,
  customer_id bigint NOT NULL REFERENCES customers,
  product_id bigint NOT NULL REFERENCES products,
  quantity integer NOT NULL,
  amount numeric(12, 2) NOT NULL,
  status order_status NOT NULL DEFAULT 'placed',
  placed_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL
);

CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.changed_at := clock_timestamp(); RETURN NEW; END $$;

CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON products FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();

INSERT INTO customers (id, name, city)
SELECT n, (ARRAY['Ada', 'Zoë', 'Łukasz', 'Mei', 'Omar', 'Inês', 'Jürgen', 'Noor'])[1 + n % 8] || ' ' || n,
  (ARRAY['Lisbon', 'Kraków', 'Osaka', 'Accra', NULL])[1 + n % 5]
FROM generate_series(1, 50) AS n;

INSERT INTO products (id, name, price, stock, reorder_at)
SELECT n, (ARRAY['teapot', 'kettle', 'lamp', 'chair', 'rug'])[1 + n % 5] || ' no. ' || n,
  (5 + n * 7.35)::numeric(12, 2), 20 + n % 30, 10
FROM generate_series(1, 20) AS n;

INSERT INTO orders (id, customer_id, product_id, quantity, amount, placed_at)
SELECT n, 1 + n * 7 % 50, p.id, 1 + n % 3, p.price * (1 + n % 3), now() - n * interval '3 seconds'
FROM generate_series(1, 100) AS n JOIN products p ON p.id = 1 + n % 20;
