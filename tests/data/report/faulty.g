MemcpyHtoD,0x10000000,256
faulty-1.traceg
faulty-2.traceg
