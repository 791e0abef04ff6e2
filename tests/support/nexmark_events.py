"""NEXMark's events in the one table that Flink's text of it reads."""

from __future__ import annotations

EVENTS = """
CREATE TABLE datagen AS SELECT *, NULL::TIMESTAMP AS _watermark FROM (
WITH p AS (SELECT {'id': id, 'name': name, 'emailaddress': email_address,
    'creditcard': credit_card, 'city': city, 'state': state, 'datetime': date_time,
    'extra': extra} AS person FROM person),
a AS (SELECT {'id': id, 'itemname': item_name, 'description': description,
    'initialbid': initial_bid, 'reserve': reserve, 'datetime': date_time, 'expires': expires,
    'seller': seller, 'category': category, 'extra': extra} AS auction FROM auction),
b AS (SELECT {'auction': auction, 'bidder': bidder, 'price': price, 'channel': channel,
    'url': url, 'datetime': date_time, 'extra': extra} AS bid FROM bid)
SELECT 0 AS event_type, person, NULL AS auction, NULL AS bid, person.datetime AS datetime FROM p
UNION ALL BY NAME SELECT 1 AS event_type, auction, auction.datetime AS datetime FROM a
UNION ALL BY NAME SELECT 2 AS event_type, bid, bid.datetime AS datetime FROM b)
"""
"""DuckDB's statement that makes this table, ``datagen``, of ``person``, ``auction`` and ``bid``."""
