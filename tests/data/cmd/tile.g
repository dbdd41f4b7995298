tile-1.traceg
tile-2.traceg
