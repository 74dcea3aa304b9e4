"""Certificate files, `NAME.cert`, which are stored next to the file they belong to."""
