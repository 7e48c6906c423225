#include <libpq-fe.h>
#include <openssl/ssl.h>

/* How many bytes OpenSSL has decrypted that libpq has not taken yet, 0 without TLS. They have left the socket, so its
   readiness does not tell of them. */
static inline int CPostgresDecryptedBytes(PGconn *connection) {
    SSL *session = PQsslInUse(connection) ? PQsslStruct(connection, "OpenSSL") : NULL;
    return session ? SSL_pending(session) : 0;
}
