"""``make growth``: how the cost of a step grows with rows, changes, keys, views, commits, …"""
