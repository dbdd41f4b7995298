//! What a load gives, byte by byte, written apart from the library: no load operation, no layout,
//! nothing shared but names.
