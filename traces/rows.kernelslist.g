rows-kernel-1.traceg
rows-kernel-2.traceg
