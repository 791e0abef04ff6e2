"""Where rows come from and where changes go: one contract, one folder for each system."""
