"""Where the time of a run goes: a trace that a browser opens, and CPU seconds by kind of work."""
