//! `decode`: every load of a cubin, a raw stream or a listing.
