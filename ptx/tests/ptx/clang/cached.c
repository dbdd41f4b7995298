/* Vectors, read-only loads, predicated code, atomics beside loads. */
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned char uchar4 __attribute__((ext_vector_type(4)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef double double2 __attribute__((ext_vector_type(2)));
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))

SHARED float tile[32][33];
SHARED double2 pairs[64];

float read_only(const float *a, const float4 *b, int i) {
    float4 v = __nvvm_ldg_f4((const void *)(b + i));
    return __nvvm_ldg_f(a + i) + v.x + v.y + v.z + v.w;
}

float transposed(GLOBAL const float *in) {
    int x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
    tile[y][x] = in[y * 32 + x];
    __syncthreads();
    return tile[x][y] + (float)pairs[x].y;
}

float4 mixed(GLOBAL uchar4 *bytes, GLOBAL short2 *shorts, GLOBAL float2 *floats, int n) {
    float4 sum = 0;
    for (int i = 0; i < n; i++) {
        uchar4 b = bytes[i];
        short2 s = shorts[i];
        if (s.x > b.y)
            sum += (float4)(floats[i].x, b.x, b.w, s.y);
        else
            sum.x += __nvvm_atom_add_gen_i((int *)floats, b.z);
    }
    return sum;
}
