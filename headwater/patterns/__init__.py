"""Row patterns: the rows of ``MATCH_RECOGNIZE`` for rows of its input.

In: the parser's node (:func:`read_clause`), then Arrow tables sorted by partition, event time and
coordinates. Out: matches and when each is final (``matcher.PatternMatcher``), where a later search
goes on (``finality.resume``), the rows of the clause (``measures.result``). It knows no engine: the
caller computes ``clause.inputs`` as columns beforehand, and ``clause.outputs`` over the result. The
answers are Trino's, plus ``WITHIN``. This module loads no heavy library.
"""

from headwater.patterns.clause import (
    MatchClause,
    never_final,
    only_empty,
    read_clause,
    skip_may_fail,
    unbounded,
)

__all__ = ["MatchClause", "never_final", "only_empty", "read_clause", "skip_may_fail", "unbounded"]
