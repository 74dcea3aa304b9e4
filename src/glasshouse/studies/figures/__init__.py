"""Pictures on a caller's axes: `curves` of studies, `drawing` of one instance."""
