"""Every construct that Flink's pages on SQL queries show for time, and what becomes of it here.

In: nothing. Out: one view per construct, over three tables, and the error if it is refused. The
documentation prints the table, a test binds and plans every view.
"""

from __future__ import annotations

from dataclasses import dataclass

TABLES = """
CREATE TABLE bid (item VARCHAR, supplier VARCHAR, price BIGINT, bidtime TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'bid') FORMAT PLAIN ENCODE JSON;
CREATE TABLE orders (id BIGINT, product VARCHAR, currency VARCHAR, price BIGINT,
  tags ARRAY(VARCHAR), ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;
CREATE TABLE shipments (id BIGINT, order_id BIGINT, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'shipments') FORMAT PLAIN ENCODE JSON;
CREATE TABLE rates (currency VARCHAR, rate BIGINT, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'rates') FORMAT PLAIN ENCODE JSON;
CREATE TABLE products (name VARCHAR PRIMARY KEY, price BIGINT,
  changed_at TIMESTAMP WITH TIME ZONE METADATA FROM 'source.ts_ms',
  WATERMARK FOR changed_at AS changed_at - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'products') FORMAT DEBEZIUM ENCODE JSON;
"""

CLOSE = "EMIT ON WINDOW CLOSE"
_TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))"
_COUNTS = (
    "SELECT window_start, window_end, supplier, sum(price) AS price, count(*) AS cnt"
    f" FROM {_TUMBLE} GROUP BY window_start, window_end, supplier"
)
_RANK = "row_number() OVER (PARTITION BY window_start, window_end ORDER BY price DESC)"
_LEFT = "SELECT id, ts, window_start, window_end FROM TUMBLE(orders, ts, INTERVAL '5' MINUTE)"
_RIGHT = (
    "SELECT order_id, ts, window_start, window_end FROM TUMBLE(shipments, ts, INTERVAL '5' MINUTE)"
)
_SAME = "l.id = r.order_id AND l.window_start = r.window_start AND l.window_end = r.window_end"
_IN_TIME = "s.order_id = o.id AND s.ts BETWEEN o.ts AND o.ts + INTERVAL '4' HOUR"


@dataclass(frozen=True, slots=True)
class Construct:
    """One construct.

    Attributes:
        page: Flink's page that shows it.
        what: what it is.
        view: the SELECT, and when its rows appear.
        refused: the condition of the error; empty if it runs.
        instead: what to write instead, or what is different.
    """

    page: str
    what: str
    view: str
    refused: str = ""
    instead: str = ""


def _join(kind: str) -> str:
    return f"SELECT l.id, r.order_id FROM ({_LEFT}) l {kind} JOIN ({_RIGHT}) r ON {_SAME} {CLOSE}"


def _interval(kind: str) -> str:
    return f"SELECT o.id, s.id AS shipment FROM orders o {kind} JOIN shipments s ON {_IN_TIME}"


def _over(call: str) -> str:
    return f"SELECT id, ts, {call} AS found FROM orders"


def _pattern(clause: str, emit: str = CLOSE) -> str:
    return f"SELECT * FROM orders MATCH_RECOGNIZE ({clause}) AS m {emit}"


def _match(pattern: str, within: str = " WITHIN INTERVAL '1' HOUR", more: str = "") -> str:
    return _pattern(
        "PARTITION BY product ORDER BY ts MEASURES first(a.ts) AS begins, last(b.price) AS price"
        f" ONE ROW PER MATCH {more or 'AFTER MATCH SKIP PAST LAST ROW'} PATTERN ({pattern}){within}"
        " DEFINE a AS a.price > 10, b AS b.price < 10"
    )


_ALL_ROWS = (
    "PARTITION BY product ORDER BY ts MEASURES classifier() AS label ALL ROWS PER MATCH"
    " PATTERN (a b) WITHIN INTERVAL '1' HOUR DEFINE b AS b.price > a.price"
)

CONSTRUCTS = (
    Construct("Windowing TVF", "`TUMBLE`", f"{_COUNTS} {CLOSE}"),
    Construct(
        "Windowing TVF",
        "`HOP`",
        "SELECT window_start, window_end, sum(price) AS p FROM TABLE(HOP(TABLE bid,"
        " DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))"
        f" GROUP BY window_start, window_end {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "`CUMULATE`",
        "SELECT window_start, window_end, sum(price) AS p FROM TABLE(CUMULATE(TABLE bid,"
        " DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))"
        f" GROUP BY window_start, window_end {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "`SESSION` with `PARTITION BY`",
        "SELECT window_start, window_end, item, sum(price) AS p FROM SESSION(TABLE bid PARTITION BY"
        " item, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES)"
        f" GROUP BY item, window_start, window_end {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "`SESSION` without keys",
        "SELECT window_start, window_end, sum(price) AS p FROM SESSION(TABLE bid,"
        f" DESCRIPTOR(bidtime), INTERVAL '5' MINUTES) GROUP BY window_start, window_end {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "an offset",
        "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime),"
        f" INTERVAL '10' MINUTES, INTERVAL '1' MINUTES)) GROUP BY window_start {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "named parameters (`DATA =>`)",
        "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL =>"
        f" DESCRIPTOR(bidtime), SIZE => INTERVAL '10' MINUTES)) GROUP BY window_start {CLOSE}",
    ),
    Construct(
        "Windowing TVF",
        "the windows of rows, without a group",
        f"SELECT * FROM {_TUMBLE}",
    ),
    Construct(
        "Window aggregation",
        "`GROUPING SETS`, `ROLLUP`, `CUBE`",
        f"SELECT window_start, window_end, supplier, sum(price) AS p FROM {_TUMBLE}"
        f" GROUP BY window_start, window_end, GROUPING SETS ((supplier), ()) {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "windows over windows",
        "SELECT date_trunc('hour', window_start) AS hour, sum(price) AS p FROM"
        f" ({_COUNTS}) AS w GROUP BY 1 {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "a window over groups by the time",
        "SELECT t.window_end, sum(t.n) AS n FROM HOP((SELECT supplier, bidtime, count(*) AS n FROM"
        " bid GROUP BY supplier, bidtime), bidtime, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) t"
        f" GROUP BY t.window_end {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "`TUMBLE` over groups of windows",
        "SELECT t.window_end, sum(t.price) AS p FROM TUMBLE((SELECT window_end AS at, price FROM"
        f" ({_COUNTS}) AS w), at, INTERVAL '1' HOUR) t GROUP BY t.window_end {CLOSE}",
        "NOT_YET",
        "`GROUP BY date_trunc('hour', window_start)`, or a view of its own",
    ),
    Construct(
        "Window aggregation",
        "`HOP`, `CUMULATE` over groups of windows",
        "SELECT t.window_end, sum(t.price) AS p FROM HOP(DATA => (SELECT window_end AS at, price"
        f" FROM ({_COUNTS}) AS w), TIMECOL => DESCRIPTOR(at), SLIDE => INTERVAL '1' HOUR, SIZE =>"
        f" INTERVAL '1' DAY) t GROUP BY t.window_end {CLOSE}",
        "NOT_YET",
        "a view of its own",
    ),
    Construct(
        "Window aggregation",
        "`SESSION` over groups of windows",
        "SELECT t.window_start, t.window_end, sum(t.price) AS p FROM SESSION((SELECT window_end AS"
        f" at, price FROM ({_COUNTS}) AS w), at, INTERVAL '1' HOUR) t"
        f" GROUP BY t.window_start, t.window_end {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "`window_time`",
        "SELECT window_time, count(*) AS n FROM TUMBLE(bid, bidtime, INTERVAL '1' HOUR)"
        f" GROUP BY window_start, window_end, window_time {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "`DISTINCT` in an aggregate",
        f"SELECT window_end, count(DISTINCT supplier) AS n FROM {_TUMBLE} GROUP BY 1 {CLOSE}",
    ),
    Construct(
        "Window aggregation",
        "emission before the window closes",
        _COUNTS,
        "",
        "`EMIT CHANGES`, which is the default",
    ),
    Construct(
        "Group aggregation",
        "group windows: `GROUP BY TUMBLE(ts, …)`",
        "SELECT TUMBLE_START(bidtime, INTERVAL '1' HOUR) AS began, count(*) AS n FROM bid"
        f" GROUP BY TUMBLE(bidtime, INTERVAL '1' HOUR) {CLOSE}",
    ),
    Construct(
        "Group aggregation",
        "`SESSION` and `HOP` as group windows, with their `_END` and `_ROWTIME`",
        "SELECT supplier, SESSION_END(bidtime, INTERVAL '1' HOUR) AS ended,"
        " SESSION_ROWTIME(bidtime, INTERVAL '1' HOUR) AS last, count(*) AS n FROM bid"
        f" GROUP BY SESSION(bidtime, INTERVAL '1' HOUR), supplier {CLOSE}",
    ),
    Construct(
        "Group aggregation",
        "`GROUP BY` without a window, `HAVING`, `FILTER`",
        "SELECT supplier, sum(price) FILTER (WHERE price > 1) AS p FROM bid GROUP BY supplier"
        " HAVING count(*) > 1",
    ),
    Construct(
        "Over aggregation",
        "`RANGE` between an interval and the current row",
        _over(
            "sum(price) OVER (PARTITION BY product ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR"
            " PRECEDING AND CURRENT ROW)"
        )
        + f" {CLOSE}",
    ),
    Construct(
        "Over aggregation",
        "`ROWS` between a number and the current row",
        _over(
            "avg(price) OVER (PARTITION BY product ORDER BY ts ROWS BETWEEN 10 PRECEDING AND"
            " CURRENT ROW)"
        )
        + f" {CLOSE}",
    ),
    Construct(
        "Over aggregation",
        "the `WINDOW` clause",
        f"SELECT id, sum(price) OVER w AS p FROM orders WINDOW w AS (ORDER BY ts) {CLOSE}",
    ),
    Construct(
        "Joins",
        "`INNER`, without a bound",
        "SELECT o.id FROM orders o JOIN shipments s ON s.order_id = o.id",
    ),
    Construct(
        "Joins",
        "`LEFT`, `RIGHT`, `FULL`, without a bound",
        "SELECT o.id, s.id AS s FROM orders o FULL JOIN shipments s ON s.order_id = o.id",
    ),
    Construct("Joins", "interval join, `INNER`", _interval("")),
    Construct("Joins", "interval join, `LEFT`, `RIGHT`, `FULL`", f"{_interval('FULL')} {CLOSE}"),
    Construct(
        "Joins",
        "temporal join by event time",
        "SELECT o.id, o.price * r.rate AS amount FROM orders AS o LEFT JOIN rates"
        " FOR SYSTEM_TIME AS OF o.ts AS r ON r.currency = o.currency",
    ),
    Construct(
        "Joins",
        "temporal join by event time, of changes of a database",
        "SELECT o.id, p.price FROM orders AS o LEFT JOIN products"
        f" FOR SYSTEM_TIME AS OF o.ts AS p ON p.name = o.product {CLOSE}",
        instead="`METADATA FROM 'source.ts_ms'` for `'value.source.timestamp'`",
    ),
    Construct(
        "Joins",
        "temporal join by processing time, lookup join",
        "SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r"
        " ON r.currency = o.currency",
        "NON_DETERMINISTIC",
        "`FOR SYSTEM_TIME AS OF o.ts`: the clock gives another answer at every look",
    ),
    Construct(
        "Joins",
        "`CROSS JOIN UNNEST`",
        "SELECT o.id, t.tag FROM orders o CROSS JOIN UNNEST(o.tags) AS t(tag)",
    ),
    Construct(
        "Joins",
        "`LEFT JOIN UNNEST … ON TRUE`",
        "SELECT o.id, t.tag FROM orders o LEFT JOIN UNNEST(o.tags) AS t(tag) ON TRUE",
    ),
    Construct(
        "Joins",
        "`UNNEST … WITH ORDINALITY`",
        "SELECT o.id, t.tag FROM orders o CROSS JOIN UNNEST(o.tags) WITH ORDINALITY AS t(tag, n)",
    ),
    Construct(
        "Joins",
        "table functions: `LATERAL TABLE(f(x))`",
        "SELECT o.id, t.w FROM orders o, LATERAL TABLE(split(o.product, ' ')) AS t(w)",
        "NOT_YET",
        "`CROSS JOIN UNNEST(split(…))`",
    ),
    Construct("Window join", "`INNER`", _join("")),
    Construct("Window join", "`LEFT`", _join("LEFT")),
    Construct("Window join", "`RIGHT`", _join("RIGHT")),
    Construct("Window join", "`FULL`", _join("FULL")),
    Construct(
        "Window join",
        "semi: `EXISTS`, `IN`",
        f"SELECT l.id, l.window_end FROM ({_LEFT}) l WHERE EXISTS (SELECT 1 FROM ({_RIGHT}) r"
        f" WHERE {_SAME}) {CLOSE}",
    ),
    Construct(
        "Window join",
        "anti: `NOT EXISTS`",
        f"SELECT l.id, l.window_end FROM ({_LEFT}) l WHERE NOT EXISTS (SELECT 1 FROM ({_RIGHT}) r"
        f" WHERE {_SAME}) {CLOSE}",
    ),
    Construct(
        "Deduplication",
        "first row of a key",
        "SELECT id, product FROM (SELECT id, product, row_number() OVER (PARTITION BY id ORDER BY"
        " ts) AS n FROM orders) AS t WHERE n = 1",
    ),
    Construct(
        "Deduplication",
        "last row of a key",
        "SELECT id, product FROM (SELECT id, product, row_number() OVER (PARTITION BY id ORDER BY"
        " ts DESC) AS n FROM orders) AS t WHERE n = 1",
    ),
    Construct(
        "Deduplication",
        "by processing time (`ORDER BY proctime()`)",
        "SELECT id FROM orders QUALIFY row_number() OVER (PARTITION BY id ORDER BY proctime()) = 1",
        "NON_DETERMINISTIC",
        "order by the event time",
    ),
    Construct(
        "Window deduplication",
        "first or last row of a key in a window",
        "SELECT * FROM (SELECT item, price, window_end, row_number() OVER (PARTITION BY"
        f" window_start, window_end, item ORDER BY bidtime DESC) AS n FROM {_TUMBLE}) AS t"
        f" WHERE n = 1 {CLOSE}",
    ),
    Construct(
        "Top-N",
        "the first N of each group",
        "SELECT * FROM (SELECT id, product, price, row_number() OVER (PARTITION BY product ORDER BY"
        " price DESC) AS n FROM orders) AS t WHERE n <= 5",
    ),
    Construct(
        "Top-N",
        "`RANK`, `DENSE_RANK`",
        "SELECT id, product FROM orders"
        " QUALIFY rank() OVER (PARTITION BY product ORDER BY price DESC) <= 5",
    ),
    Construct(
        "Window Top-N",
        "after a window aggregation",
        f"SELECT * FROM (SELECT *, {_RANK} AS n FROM ({_COUNTS}) AS c) AS t WHERE n <= 3 {CLOSE}",
    ),
    Construct(
        "Window Top-N",
        "straight after a window",
        f"SELECT * FROM (SELECT item, price, window_start, window_end, {_RANK} AS n FROM {_TUMBLE})"
        f" AS t WHERE n <= 3 {CLOSE}",
    ),
    Construct(
        "ORDER BY, LIMIT",
        "`ORDER BY … LIMIT`",
        "SELECT id, price FROM orders ORDER BY price DESC LIMIT 3",
    ),
    Construct(
        "ORDER BY, LIMIT",
        "`ORDER BY` event time without `LIMIT`",
        "SELECT id FROM orders ORDER BY ts",
        instead="rows of a table have no order: order them when you read",
    ),
    Construct(
        "Set operations",
        "`UNION`, `INTERSECT`, `EXCEPT`, with `ALL` too",
        "SELECT id FROM orders EXCEPT ALL SELECT order_id AS id FROM shipments",
    ),
    Construct(
        "Set operations",
        "`IN`, `EXISTS`",
        "SELECT id FROM orders WHERE id IN (SELECT order_id FROM shipments)",
    ),
    Construct("SELECT DISTINCT", "`SELECT DISTINCT`", "SELECT DISTINCT product FROM orders"),
    Construct(
        "WITH", "common table expressions", "WITH o AS (SELECT id FROM orders) SELECT id FROM o"
    ),
    Construct(
        "Pattern recognition",
        "`PARTITION BY`, `ORDER BY`, `MEASURES`, `ONE ROW PER MATCH`",
        _match("a b+"),
    ),
    Construct(
        "Pattern recognition", "`ALL ROWS PER MATCH`", _pattern(_ALL_ROWS), "", "Flink has none"
    ),
    Construct(
        "Pattern recognition",
        "matches that are corrected",
        _match("a b+", within="").replace(CLOSE, "EMIT CHANGES"),
        "",
        "Flink has none",
    ),
    Construct("Pattern recognition", "greedy quantifiers `* + ? {n,m}`", _match("a b{2,4}")),
    Construct("Pattern recognition", "reluctant quantifiers `*? +?`", _match("a b*? a")),
    Construct(
        "Pattern recognition",
        "alternation, groups, `PERMUTE`, exclusion",
        _match("PERMUTE(a, b) | (a {- b -})"),
        "",
        "Flink has none",
    ),
    Construct(
        "Pattern recognition",
        "`WITHIN INTERVAL`",
        _match("a b+ a"),
        "",
        "in Trino, `verify` writes it as a condition of every variable",
    ),
    Construct(
        "Pattern recognition",
        "a pattern without a bound",
        _match("a b+", within=""),
        "UNBOUNDED_STATE",
        "`WITHIN INTERVAL`",
    ),
    Construct(
        "Pattern recognition",
        "`AFTER MATCH SKIP TO NEXT ROW`",
        _match("a b+", more="AFTER MATCH SKIP TO NEXT ROW"),
    ),
    Construct(
        "Pattern recognition",
        "`AFTER MATCH SKIP TO FIRST`, `TO LAST`",
        _match("a b+", more="AFTER MATCH SKIP TO LAST b"),
    ),
    Construct(
        "Pattern recognition",
        "`FIRST`, `LAST`, `PREV` with offsets, aggregates in `DEFINE`",
        _pattern(
            "PARTITION BY product ORDER BY ts MEASURES first(b.price, 1) AS second, avg(b.price) AS"
            " mean PATTERN (a b+) WITHIN INTERVAL '1' HOUR"
            " DEFINE b AS b.price > prev(b.price) AND avg(b.price) < 15"
        ),
    ),
    Construct(
        "Pattern recognition",
        "`MATCH_ROWTIME()`",
        _pattern(
            "PARTITION BY product ORDER BY ts MEASURES match_rowtime() AS at PATTERN (a b)"
            " WITHIN INTERVAL '1' HOUR DEFINE b AS b.price > 1"
        ),
        "UNKNOWN_FUNCTION",
        "`last(ts)`",
    ),
    Construct(
        "Time travel",
        "`FOR SYSTEM_TIME AS OF` a constant",
        "SELECT id FROM orders FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
        "NOT_YET",
        "`headwater sql`, with `FOR VERSION AS OF`",
    ),
)
