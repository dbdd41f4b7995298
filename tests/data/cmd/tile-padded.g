tile-1-padded.traceg
tile-2.traceg
