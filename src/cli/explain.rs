//! `explain`: what every bit of a word means.
