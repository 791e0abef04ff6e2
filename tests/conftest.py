"""What all tests share. The Spark session is in tests/spark/conftest.py."""
