"""Safe handling of untrusted text and bytes, for all readers and writers of files.

errors (what is wrong, and in which line) · allowance (how much a file may cost) → unpacking (gzip,
xz, zip) → streams (files and pipes, read and replaced) → number_rows (rows of numbers; kernels has
the compiled tokenizer), archive (named arrays of .npz) · plain_json, plain_toml
"""
