#ifdef __cplusplus
extern "C" {
#endif

// addTPCH makes the linked extension's functions known to the database of a duckdb_connection. It returns NULL, or what went wrong.
const char *addTPCH(void *connection);

#ifdef __cplusplus
}
#endif
