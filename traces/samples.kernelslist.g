MemcpyHtoD,0x00007fc841521000,4096
bfs-v3-kernel-14.traceg
MemcpyHtoD,0x00007f1269c00000,43560
btree-v5-kernel-1.traceg
