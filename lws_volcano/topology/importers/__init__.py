"""What sites already have, read as a ClusterTopology: one file a format behind one signature, listed in `registry`.

    bytes -> source (text, options) -> format (its own words) -> switches | levels | fabric (a strict tree) -> document

Here: formats, and the three ways from them to a strict tree. Not here: the model itself (`topology.build`), opening
files and printing (`cli`).
"""
