#include "files/import/pickle_frame.h"

#include <stddef.h>

const struct pickle_class pickle_result_classes[] = {
    {"gpu_tracker.sub_tracker", "SubTrackingResults", PICKLE_RESULTS},
    {"gpu_tracker.sub_tracker", "CodeBlockResults", PICKLE_CODE_BLOCK},

    {"pandas", "DataFrame", PICKLE_FRAME},
    {"pandas.core.frame", "DataFrame", PICKLE_FRAME},
    {"pandas", "Series", PICKLE_SERIES},
    {"pandas.core.series", "Series", PICKLE_SERIES},
    {"pandas.core.internals.managers", "BlockManager", PICKLE_BLOCK_MANAGER},
    {"pandas.core.internals.managers", "SingleBlockManager", PICKLE_SINGLE_MANAGER},
    {"pandas._libs.internals", "_unpickle_block", PICKLE_BLOCK},
    {"pandas.core.indexes.base", "_new_Index", PICKLE_NEW_INDEX},
    {"pandas.core.indexes.base", "Index", PICKLE_INDEX},
    {"pandas", "Index", PICKLE_INDEX},
    {"pandas.core.indexes.range", "RangeIndex", PICKLE_RANGE_INDEX},
    {"pandas", "RangeIndex", PICKLE_RANGE_INDEX},
    {"pandas", "StringDtype", PICKLE_STRING_DTYPE},
    {"pandas.core.arrays.string_", "StringDtype", PICKLE_STRING_DTYPE},
    {"pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked", PICKLE_NEW_STRING_ARRAY},
    {"pandas.arrays", "StringArray", PICKLE_STRING_ARRAY},
    {"pandas.core.arrays.string_", "StringArray", PICKLE_STRING_ARRAY},
    {"pandas.core.arrays.string_", "StringArrayNumpySemantics", PICKLE_STRING_ARRAY},
    {"pandas.arrays", "ArrowStringArray", PICKLE_ARROW_STRINGS},
    {"pandas.core.arrays.string_arrow", "ArrowStringArray", PICKLE_ARROW_STRINGS},
    {"pandas.core.arrays.string_arrow", "ArrowStringArrayNumpySemantics", PICKLE_ARROW_STRINGS},

    {"numpy", "ndarray", PICKLE_ARRAY},
    {"numpy", "dtype", PICKLE_DTYPE},
    {"numpy.core.multiarray", "_reconstruct", PICKLE_NEW_ARRAY},
    {"numpy._core.multiarray", "_reconstruct", PICKLE_NEW_ARRAY},
    {"numpy.core.multiarray", "scalar", PICKLE_SCALAR},
    {"numpy._core.multiarray", "scalar", PICKLE_SCALAR},
    {"numpy.core.numeric", "_frombuffer", PICKLE_ARRAY_OF_BUFFER},
    {"numpy._core.numeric", "_frombuffer", PICKLE_ARRAY_OF_BUFFER},

    {"pyarrow.lib", "_restore_array", PICKLE_ARROW_ARRAY},
    {"pyarrow.lib", "py_buffer", PICKLE_ARROW_BUFFER},
    {"pyarrow.lib", "type_for_alias", PICKLE_ARROW_TYPE},

    {"sqlalchemy.sql.elements", "quoted_name", PICKLE_QUOTED_NAME},
    {"builtins", "slice", PICKLE_SLICE},
    {"__builtin__", "slice", PICKLE_SLICE},
    {"builtins", "bytearray", PICKLE_BYTEARRAY},
    {"__builtin__", "bytearray", PICKLE_BYTEARRAY},
    {"_codecs", "encode", PICKLE_ENCODE},
    {NULL, NULL, 0},
};
