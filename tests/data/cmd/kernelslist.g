MemcpyHtoD,0x00007f1269c00000,43560
kernel-1.traceg
kernel-2.traceg
