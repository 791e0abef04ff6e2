"""What a name in a query stands for: columns of FROM, outputs, keys, an order, functions."""
