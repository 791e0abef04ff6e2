"""The small languages inside literals: patterns, replacements, JSON paths, formats.

In: the text of a literal, which has Trino's meaning. Out: a tree and its translation for the other
engines, or a :class:`~headwater.analyze.literals.mistake.Mistake` with the place in the literal.
"""
