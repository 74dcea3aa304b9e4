"""What a study may measure of each instance: one file per kind."""
