# Indices of words in OO7's objects, and the number of the class BASE, for the traversals. They must agree with CLASSES
# in oo7_plan.py. They are macros because C code of a kernel uses them too.

cdef extern from *:
    """
    #define MODULE_ROOT 5
    #define COMPLEX_CHILDREN 6
    #define BASE 3                    /* class */
    #define BASE_PRIVATE 6
    #define COMPOSITE_TYPE 2
    #define COMPOSITE_ROOT 5
    #define COMPOSITE_PARTS 6
    #define COMPOSITE_USED_PRIVATE 7
    #define COMPOSITE_USED_SHARED 8
    #define PART_TYPE 2
    #define PART_X 4
    #define PART_Y 5
    #define PART_TO 7
    #define PART_FROM 8
    #define CONNECTION_TYPE 1
    #define CONNECTION_TO 4
    #define ID 1
    """
    const int MODULE_ROOT
    const int COMPLEX_CHILDREN
    const int BASE
    const int BASE_PRIVATE
    const int COMPOSITE_TYPE
    const int COMPOSITE_ROOT
    const int COMPOSITE_PARTS
    const int COMPOSITE_USED_PRIVATE
    const int COMPOSITE_USED_SHARED
    const int PART_TYPE
    const int PART_X
    const int PART_Y
    const int PART_TO
    const int PART_FROM
    const int CONNECTION_TYPE
    const int CONNECTION_TO
    const int ID
