"""Properties: what is true of the rows of a node, told from it and from its inputs.

A property is one module with one exhaustive ``match``; nothing is written down on the nodes.
"""
