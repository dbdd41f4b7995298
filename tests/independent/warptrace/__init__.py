"""Independent model of warpload's trace readers and replay counts; see ../README.md."""
