/* Device functions: structures by value, arrays on the stack, calls, every width. */
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))

struct point { float x, y, z; short tag; unsigned char bytes[5]; double weight; };
struct node { struct node *next; struct point at; };

GLOBAL struct point corners[4] = {{1, 2, 3, 4, "abcd", 5}, {-1, 0.5f, 0, -4, "", 1e300}};
CONSTANT long long steps[3] = {1, -2, 1ll << 40};
GLOBAL unsigned short *GLOBAL where = 0;

__attribute__((noinline)) struct point middle(struct point a, struct point b) {
    struct point m = {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2, a.tag};
    for (int i = 0; i < 5; i++)
        m.bytes[i] = a.bytes[i] ^ b.bytes[4 - i];
    m.weight = a.weight * b.weight;
    return m;
}

double walk(struct node *list, int count) {
    struct point on_stack[8];
    double sum = 0;
    for (int i = 0; i < count && list; i++, list = list->next)
        on_stack[i & 7] = middle(list->at, corners[i & 3]);
    for (int i = 0; i < 8; i++)
        sum += on_stack[i].weight + on_stack[i].bytes[i % 5] + on_stack[i].tag;
    return sum;
}

long long every_width(signed char *a, unsigned short *b, int *c, long long *d, SHARED char *e,
                      volatile GLOBAL unsigned *f, _Bool *g) {
    return *a + *b + *c + *d + *e + *f + *g + steps[*a & 1] + (where ? *where : 0);
}

__int128 both_halves(const __int128 *p) { return *p; }

int through(int (*function)(int, const char *), int n) {
    static const char text[] = "a string";
    return function(n, text) + text[n];
}

int variadic_free(int n) {
    switch (n) {
    case 0: return 7;
    case 1: return variadic_free(n - 1) * 3;
    case 2: return 11;
    case 3: return 13;
    case 4: return 17;
    default: return variadic_free(n / 2) + variadic_free(n / 3);
    }
}
