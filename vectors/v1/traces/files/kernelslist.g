MemcpyHtoD,0x00007f1000000000,65536
MemcpyHtoD,0x00007f2000000000,4096
handwritten-1.traceg
handwritten-2.traceg
