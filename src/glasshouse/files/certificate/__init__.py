"""Reading and writing of certificate files, `NAME.cert`, stored next to their problem files."""
