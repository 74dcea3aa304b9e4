"""Read and write certificate files, `NAME.cert`, which are stored next to problem files."""
