#include <libpq-fe.h>
#include <openssl/ssl.h>

/* The number of bytes that OpenSSL has decrypted and libpq has not read yet; 0 without TLS. They are no longer in the
   socket, so epoll does not report them. */
static inline int CPostgresDecryptedBytes(PGconn *connection) {
    SSL *session = PQsslInUse(connection) ? PQsslStruct(connection, "OpenSSL") : NULL;
    return session ? SSL_pending(session) : 0;
}
