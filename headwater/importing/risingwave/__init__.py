"""RisingWave."""
