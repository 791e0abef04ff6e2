"""Row patterns: the rows of ``MATCH_RECOGNIZE`` for rows of its input.

In: the parser's node (:func:`read_clause`), then Arrow tables sorted by partition, event time and
coordinates. Out: matches and their finality (:class:`PatternMatcher`), the rows of the clause
(:func:`result`). It knows no engine: the caller computes ``clause.inputs`` as columns beforehand
and ``clause.outputs`` over the result. The answers are Trino's, plus ``WITHIN``.
"""

from headwater.patterns.clause import MatchClause, never_final, read_clause, unbounded
from headwater.patterns.finality import NEVER, Resume, resume
from headwater.patterns.matcher import PatternMatcher
from headwater.patterns.matches import Matches
from headwater.patterns.measures import result

__all__ = [
    "NEVER",
    "MatchClause",
    "Matches",
    "PatternMatcher",
    "Resume",
    "never_final",
    "read_clause",
    "result",
    "resume",
    "unbounded",
]
