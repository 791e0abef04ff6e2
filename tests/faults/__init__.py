"""Real faults against real processes, and an oracle that shares no code with what it judges."""
