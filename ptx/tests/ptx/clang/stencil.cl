// Kernels with loads from every state space.
constant float weights[9] = {0.5f, 1, 0.5f, 1, 2, 1, 0.5f, 1, 0.5f};

kernel void stencil(global const float *restrict in, global float *out, int width, int height) {
    local float tile[18 * 18];
    int x = get_global_id(0), y = get_global_id(1);
    tile[(get_local_id(1) + 1) * 18 + get_local_id(0) + 1] = in[y * width + x];
    barrier(1);
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += weights[dy * 3 + dx] * tile[(get_local_id(1) + dy) * 18 + get_local_id(0) + dx];
    if (x < width && y < height)
        out[y * width + x] = sum;
}

kernel void wide(global const float4 *in, global double2 *doubles, global float4 *out, char8 bytes) {
    int i = get_global_id(0);
    float4 v = in[i];
    double2 d = doubles[i];
    out[i] = v * (float)d.x + (float)d.y + (float)bytes.s3;
}

kernel void chase(global const ulong *start, global ulong *out, int steps) {
    const ulong *p = (const ulong *)start[get_global_id(0)];
    for (int i = 0; i < steps; i++)
        p = (const ulong *)*(volatile const ulong *)p;
    out[get_global_id(0)] = (ulong)p;
}
