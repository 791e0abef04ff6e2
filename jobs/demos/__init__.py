"""Programs of the demos: ``make demo``, ``demo-cdc``, ``stack-up``. Some run in containers."""
