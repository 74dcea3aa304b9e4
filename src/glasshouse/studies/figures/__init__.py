"""Pictures on a caller's axes: `curves` of studies, `drawing` of instances, in one `style`."""
