// Textbook kernels of coalescing and bank conflicts: tiles of 32 x 32 floats, blocks of 32 x 8 threads.
#define TILE 32
#define ROWS 8

extern "C" __global__ void copy(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * n + x] = in[(y + j) * n + x];
}

extern "C" __global__ void transpose_naive(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[x * n + (y + j)] = in[(y + j) * n + x];
}

template <int PITCH, bool SWIZZLED>
__device__ void tiled(float (*tile)[PITCH], const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int row = threadIdx.y + j;
        tile[row][SWIZZLED ? threadIdx.x ^ row : threadIdx.x] = in[(y + j) * n + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int column = threadIdx.y + j;
        out[(y + j) * n + x] = tile[threadIdx.x][SWIZZLED ? column ^ threadIdx.x : column];
    }
}

extern "C" __global__ void transpose_tiled(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE];
    tiled<TILE, false>(tile, in, out, n);
}

extern "C" __global__ void transpose_padded(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + 1];
    tiled<TILE + 1, false>(tile, in, out, n);
}

extern "C" __global__ void transpose_swizzled(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE];
    tiled<TILE, true>(tile, in, out, n);
}

struct Particle { float x, y, z, mass; };

extern "C" __global__ void array_of_structures(Particle *particles, float step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) particles[i].x += step;
}

extern "C" __global__ void structure_of_arrays(float *x, float step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += step;
}
