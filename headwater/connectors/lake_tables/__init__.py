"""Tables of other catalogs and folders as sinks."""
