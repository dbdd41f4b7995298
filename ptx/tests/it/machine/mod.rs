//! Kernels launched without a GPU.

mod kernels;
