static __device__ float offset[2];

static __device__ inline float twice(float value) {
    return value + value * offset[1];
}
