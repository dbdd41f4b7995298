kernel-1.traceg
missing.traceg
