"""Side by side with peers: ratios formed within one run, stored with date, machine and versions."""
