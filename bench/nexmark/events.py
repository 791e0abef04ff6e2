"""The events of NEXMark: people who sign up, auctions that they open, bids on the auctions.

In: a number of events and a seed. Out: Parquet files of three tables, in the order of the events.
Of 50 events in a row one is a person, three are auctions and 46 are bids. Half of the bids go to a
hot auction, three quarters of them come from a hot bidder, and three quarters of the auctions from
a hot seller. Event times are all different; within a second they come in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

TABLES = ("person", "auction", "bid")
PER_SECOND = 1_000
"""Events in a second of event time."""
FILES = 8
"""Files of each table; each is later than the one before it."""
SIDE_ROWS = 10_000

_MACROS = """
-- a number from 0 to 1 that depends on an event, a purpose and the seed
CREATE MACRO chance(n, purpose) AS
  (hash(n, purpose, {seed}) % 1_000_003)::BIGINT / 1_000_003;
CREATE MACRO whole(n, purpose, least, most) AS
  (least + floor(chance(n, purpose) * (most - least + 1)))::BIGINT;
CREATE MACRO one_of(n, purpose, list) AS list[whole(n, purpose, 1, len(list))];
CREATE MACRO letters(n, purpose, count) AS
  substr(translate(md5(concat_ws('/', n, purpose, {seed})), '0123456789', 'ghijklmnop'), 1, count);

-- the newest person and auction when an event happens, without the first id
CREATE MACRO last_person(n) AS n // 50;
CREATE MACRO last_auction(n) AS (n // 50) * 3 + least(n % 50, 3) - 1;

-- of a group of as many events as there are in a second, any order of times
CREATE MACRO event_time(n) AS TIMESTAMP '2026-01-01 00:00:00' + to_microseconds(
  ((n // {rate}) * {rate} + ((n % {rate}) * 953) % {rate}) * (1_000_000 // {rate}));
"""

_PERSON = """
SELECT 1000 + last_person(n) AS id,
  one_of(n, 'first', ['Peter', 'Paul', 'Luke', 'John', 'Saul', 'Vicky', 'Kate', 'Julie', 'Sarah'])
    || ' ' || one_of(n, 'last', ['Shultz', 'Abrams', 'Spencer', 'White', 'Bartels', 'Walton',
      'Smith', 'Jones', 'Noris']) AS name,
  letters(n, 'mail', 7) || '@' || letters(n, 'host', 5) || '.com' AS email_address,
  concat_ws(' ', whole(n, 'c1', 1000, 9999), whole(n, 'c2', 1000, 9999),
    whole(n, 'c3', 1000, 9999), whole(n, 'c4', 1000, 9999)) AS credit_card,
  one_of(n, 'city', ['Phoenix', 'Los Angeles', 'San Francisco', 'Boise', 'Portland', 'Bend',
    'Redmond', 'Seattle', 'Kent', 'Cheyenne']) AS city,
  one_of(n, 'state', ['AZ', 'CA', 'ID', 'OR', 'WA', 'WY']) AS state,
  event_time(n) AS date_time, letters(n, 'extra', 24) AS extra
FROM events WHERE n % 50 = 0
"""

_AUCTION = """
SELECT 1000 + last_auction(n) AS id, letters(n, 'item', 12) AS item_name,
  letters(n, 'words', 30) AS description, 1 + floor(pow(10, chance(n, 'bid') * 3))::BIGINT AS
  initial_bid, 1 + floor(pow(10, 3 + chance(n, 'reserve') * 3))::BIGINT AS reserve,
  event_time(n) AS date_time,
  event_time(n) + to_milliseconds(whole(n, 'length', 1, 200 * 50_000 // (3 * {rate}))) AS expires,
  1000 + CASE WHEN chance(n, 'hot seller') < 0.75 THEN (last_person(n) // 100) * 100
    ELSE whole(n, 'seller', greatest(last_person(n) - 1000, 0), last_person(n)) END AS seller,
  whole(n, 'category', 10, 14) AS category, letters(n, 'extra', 24) AS extra
FROM events WHERE n % 50 BETWEEN 1 AND 3
"""

_BID = """
SELECT 1000 + CASE WHEN chance(n, 'hot auction') < 0.5 THEN (last_auction(n) // 100) * 100
    ELSE whole(n, 'auction', greatest(last_auction(n) - 100, 0), last_auction(n) + 10) END AS
  auction,
  1000 + CASE WHEN chance(n, 'hot bidder') < 0.75 THEN (last_person(n) // 100) * 100 + 1
    ELSE whole(n, 'bidder', greatest(last_person(n) - 1000, 0), last_person(n) + 10) END AS bidder,
  floor(pow(10, chance(n, 'price') * 6) * 100)::BIGINT AS price,
  CASE WHEN hot THEN one_of(n, 'hot channel', ['Google', 'Facebook', 'Baidu', 'Apple'])
    ELSE 'channel-' || whole(n, 'channel', 0, 9999) END AS channel,
  'https://www.example.com/' || letters(n, 'dir1', 5) || '/' || letters(n, 'dir2', 4) || '/'
    || letters(n, 'dir3', 5) || '/item.htm?query=1'
    || CASE WHEN hot OR chance(n, 'no id') < 0.1 THEN ''
      ELSE '&channel_id=' || whole(n, 'channel', 0, 9999) END AS url,
  event_time(n) AS date_time, letters(n, 'extra', 24) AS extra
FROM (SELECT n, chance(n, 'hot') < 0.5 AS hot FROM events WHERE n % 50 > 3)
"""


@dataclass(frozen=True, slots=True)
class Events:
    """What was generated.

    Attributes:
        folder: a folder with one folder of files for each table, and one for ``side_input``.
        rows: by table, the number of rows.
    """

    folder: Path
    rows: dict[str, int]


def generate(folder: Path, events: int, seed: int = 1, rate: int = PER_SECOND) -> Events:
    """Write the events of all tables.

    Args:
        folder: gets the files; it need not exist.
        events: how many there are.
        seed: another seed gives other events.
        rate: events in a second of event time; it divides a million and is prime to 953.
    """
    made: dict[str, int] = {}
    with duckdb.connect() as duck:
        duck.execute(_MACROS.format(seed=seed, rate=rate))
        for table, sql in zip(TABLES, (_PERSON, _AUCTION, _BID), strict=True):
            (folder / table).mkdir(parents=True)
            made[table] = 0
            for number in range(FILES):
                first, end = (events * each // FILES for each in (number, number + 1))
                duck.execute(
                    f"CREATE OR REPLACE VIEW events AS SELECT range AS n FROM range({first}, {end})"
                )
                file = folder / table / f"{number:04}.parquet"
                found = duck.execute(f"COPY ({sql.format(rate=rate)}) TO '{file}' (FORMAT parquet)")
                made[table] += found.fetchall()[0][0]
        (folder / "side_input").mkdir()
        side = f"SELECT range AS key, 'value ' || range AS value FROM range({SIDE_ROWS})"
        duck.execute(f"COPY ({side}) TO '{folder}/side_input/0000.parquet' (FORMAT parquet)")
    return Events(folder, made)
