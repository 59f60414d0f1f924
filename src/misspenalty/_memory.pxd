# Allocate large arrays. Random accesses to them wait for page tables unless the pages are huge, and Linux makes them
# huge only if asked.

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    #define HUGE_PAGE ((uintptr_t)1 << 21)

    static void *zeroed(size_t n, size_t size) {
        void *made = calloc(n, size);
    #ifdef MADV_HUGEPAGE
        uintptr_t first = ((uintptr_t)made + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
        uintptr_t end = ((uintptr_t)made + n * size) & ~(HUGE_PAGE - 1);
        if (made && first < end)
            madvise((void *)first, end - first, MADV_HUGEPAGE);
    #endif
        return made;
    }
    """
    # Allocate like calloc, in huge pages if the system has them; `free` frees the array.
    void* zeroed(size_t n, size_t size) nogil
