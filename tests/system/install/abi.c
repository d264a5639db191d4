/* The binary interface of libpleat.so.0, as it was released. What is here does not change without a
 * new SONAME; what is new is added. Compiling it is the test. */
#include <pleat.h>
#include <stddef.h>

typedef struct pleat_session session;
typedef struct pleat_rows rows;
typedef struct pleat_array array;
typedef struct pleat_particles particles;
typedef struct pleat_csr csr;
typedef struct pleat_error error;

#define IS(function, type)                                                                         \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(function)), type), #function)

IS(pleat_session_create_for, int (*)(session **, int, int, error *));
IS(pleat_session_begin, int (*)(session *, error *));
IS(pleat_session_adapt, int (*)(session *, error *));
IS(pleat_session_finish, void (*)(session *));
IS(pleat_or_abort, int (*)(int, const error *));
IS(pleat_session_comm, MPI_Comm (*)(const session *));
IS(pleat_session_rank, int (*)(const session *));
IS(pleat_session_size, int (*)(const session *));
IS(pleat_session_joined, int (*)(const session *));
IS(pleat_session_resumed, int (*)(const session *));
IS(pleat_session_malleable, int (*)(const session *));
IS(pleat_session_failure, const error *(*)(const session *));
IS(pleat_session_on_offer, void (*)(session *, int (*)(int, int, int, void *), void *));
IS(pleat_session_offer, const struct pleat_offer *(*)(const session *));
IS(pleat_action_register,
   int (*)(session *, const char *,
           int (*)(session *, enum pleat_moment, const struct pleat_offer *, void *), void *,
           error *));
IS(pleat_point_register, int (*)(session *, const char *, enum pleat_point_use, int *, error *));
IS(pleat_point_adapt, int (*)(session *, int, error *));
IS(pleat_session_expect, int (*)(session *, double, int64_t, int64_t, error *));
IS(pleat_session_grid, int (*)(session *, int, const int *, error *));
IS(pleat_section_begin, int (*)(session *, error *));
IS(pleat_section_end, int (*)(session *, error *));
IS(pleat_session_point, int (*)(const session *));
IS(pleat_session_on_plan,
   void (*)(session *, int (*)(enum pleat_moment, const struct pleat_offer *, int *, int, void *),
            void *));
IS(pleat_value_register, int (*)(session *, const char *, void *, size_t, error *));
IS(pleat_rows_create, int (*)(session *, const char *, int64_t, size_t, int, rows **, error *));
IS(pleat_rows_data, void *(*)(const rows *));
IS(pleat_rows_first, int64_t (*)(const rows *));
IS(pleat_rows_count, int64_t (*)(const rows *));
IS(pleat_session_announce, int (*)(session *, error *));
IS(pleat_session_pending, int (*)(const session *));
IS(pleat_session_limit, int (*)(session *, int, error *));
IS(pleat_session_limits, int (*)(session *, int, int, const char *, error *));
IS(pleat_session_limits_if, int (*)(session *, int (*)(int, void *), void *, error *));
IS(pleat_session_ask, int (*)(session *, int, int, error *));
IS(pleat_session_ask_within, int (*)(session *, int, double, error *));
IS(pleat_session_give_back, int (*)(session *, int, error *));
IS(pleat_session_asked, int (*)(const session *, error *));
IS(pleat_session_comm_fortran, MPI_Fint (*)(const session *));

IS(pleat_array_create,
   int (*)(session *, const char *, const struct pleat_array_shape *, array **, error *));
IS(pleat_array_data, void *(*)(const array *));
IS(pleat_array_count, int64_t (*)(const array *, int));
IS(pleat_array_extent, int64_t (*)(const array *, int));
IS(pleat_array_global, int64_t (*)(const array *, int, int64_t));
IS(pleat_array_processes, int (*)(const array *, int));
IS(pleat_array_coordinate, int (*)(const array *, int));
IS(pleat_array_grid, int (*)(const array *, int, int *, error *));
IS(pleat_array_descriptor, int (*)(const array *, int, int *, error *));

IS(pleat_array_comm, int (*)(array *, MPI_Comm *, error *));
IS(pleat_array_comm_fortran, int (*)(array *, MPI_Fint *, error *));
IS(pleat_array_context, int (*)(array *, int *, error *));
IS(pleat_array_shape_of, int (*)(const int *, size_t, struct pleat_array_shape *, error *));
IS(pleat_element_bytes, int (*)(MPI_Datatype, size_t *, error *));
IS(pleat_session_on_grid,
   void (*)(session *, void (*)(const char *, int, int, int *, void *), void *));

IS(pleat_items_register,
   int (*)(session *, const char *, const struct pleat_items_ops *, int64_t, void *, error *));
IS(pleat_particles_create, int (*)(session *, const char *, size_t, particles **, error *));
IS(pleat_particles_set_count, int (*)(particles *, int64_t, error *));
IS(pleat_particles_data, void *(*)(const particles *));
IS(pleat_particles_count, int64_t (*)(const particles *));
IS(pleat_particles_on_owner, void (*)(particles *, int (*)(const void *, int, void *), void *));
IS(pleat_csr_create,
   int (*)(session *, const char *, int64_t, const size_t *, int, csr **, error *));
IS(pleat_csr_set_lengths, int (*)(csr *, const int64_t *, error *));
IS(pleat_csr_first, int64_t (*)(const csr *));
IS(pleat_csr_count, int64_t (*)(const csr *));
IS(pleat_csr_start, const int64_t *(*)(const csr *));
IS(pleat_csr_field, void *(*)(const csr *, int));
IS(pleat_owned_register, int (*)(session *, const char *, int64_t, size_t,
                                 const struct pleat_owned_ops *, void *, error *));
IS(pleat_owned_block, void (*)(int64_t, int, int, int64_t *, int64_t *));
IS(pleat_process_mpi_prepare_for, int (*)(const struct pleat_processes *, int, error *));
IS(pleat_process_mpi_join, int (*)(struct pleat_processes *, MPI_Comm *, int32_t, int, error *));
IS(pleat_process_mpi_join_fortran,
   int (*)(struct pleat_processes *, MPI_Fint *, int32_t, int, error *));
IS(pleat_process_mpi_leave, int (*)(MPI_Comm *, int, error *));
IS(pleat_process_mpi_leave_fortran, int (*)(MPI_Fint *, int, error *));
_Static_assert(PLEAT_PROCESS_MPI_TYPE == INT32_MAX, "the type of its messages");

_Static_assert(sizeof(error) == 484 && offsetof(error, text) == 4, "struct pleat_error");
_Static_assert(PLEAT_API_VERSION == 1, "another version needs another SONAME");
_Static_assert(PLEAT_STARTED == 1 && PLEAT_JOINED == 2, "enum pleat_begin");
_Static_assert(PLEAT_SAME == 0 && PLEAT_GREW == 1 && PLEAT_SHRANK == 2 && PLEAT_LEAVE == 3,
               "enum pleat_adapt");
_Static_assert(PLEAT_E_INVALID == -1 && PLEAT_E_NOMEM == -2 && PLEAT_E_SYSTEM == -3 &&
                   PLEAT_E_NOTFOUND == -4 && PLEAT_E_EXISTS == -5 && PLEAT_E_STATE == -6 &&
                   PLEAT_E_UNSUPPORTED == -7 && PLEAT_E_TOOBIG == -8 && PLEAT_E_PROTOCOL == -9 &&
                   PLEAT_E_PERMISSION == -10 && PLEAT_E_TIMEOUT == -11 && PLEAT_E_CLOSED == -12 &&
                   PLEAT_E_CORRUPT == -13 && PLEAT_E_BUSY == -14 && PLEAT_E_MPI == -15,
               "enum pleat_error_code");
_Static_assert(sizeof(struct pleat_dimension) == 40 &&
                   offsetof(struct pleat_dimension, block) == 16,
               "struct pleat_dimension");
_Static_assert(sizeof(struct pleat_array_shape) == 192 &&
                   offsetof(struct pleat_array_shape, element_bytes) == 168 &&
                   offsetof(struct pleat_array_shape, same_grid_as) == 184,
               "struct pleat_array_shape");
_Static_assert(sizeof(struct pleat_items_ops) == 7 * sizeof(void *) &&
                   offsetof(struct pleat_items_ops, owner) == 6 * sizeof(void *),
               "struct pleat_items_ops");
_Static_assert(sizeof(struct pleat_owned_ops) == 3 * sizeof(void *), "struct pleat_owned_ops");
_Static_assert(PLEAT_CSR_FIELDS == 8 && PLEAT_ARRAY_DIMS == 4, "largest numbers");
