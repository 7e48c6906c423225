/* libcurl sets and reads options through variadic functions, which Swift cannot call. This file has one function
   for each type of value. */
#include <curl/curl.h>
#include <sys/socket.h>

static inline CURLcode CCurlSetNumber(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode CCurlSetSize(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text. */
static inline CURLcode CCurlSetText(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the bytes. */
static inline CURLcode CCurlSetBody(CURL *easy, const void *bytes, curl_off_t count) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return result == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : result;
}

/* Makes the transfer an upload of `count` bytes, such as a mail. The callback copies them to libcurl's memory. */
static inline CURLcode CCurlSetSender(CURL *easy, curl_read_callback read, curl_off_t count, void *context) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, count);
    curl_easy_setopt(easy, CURLOPT_READDATA, context);
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
}

/* The addresses that a mail is sent to. The list must outlive the transfer. */
static inline CURLcode CCurlSetRecipients(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, list);
}

/* The list must outlive the transfer. */
static inline CURLcode CCurlSetHeaders(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

/* The callbacks for a header line and for bytes of the body. */
static inline CURLcode CCurlSetReceiver(CURL *easy, curl_write_callback head, curl_write_callback body, void *context) {
    curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    return curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

/* The callback that makes the socket of a connection, after the name was resolved. */
static inline CURLcode CCurlSetSocketOpener(CURL *easy, curl_opensocket_callback open, void *context) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
}

/* The callback that sees the address of the connection's other end before the request is sent. */
static inline CURLcode CCurlSetConnectionCheck(CURL *easy, curl_prereq_callback check, void *context) {
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check);
}

static inline long CCurlNumber(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/* The socket of a connection that is kept open; CURL_SOCKET_BAD for none. */
static inline curl_socket_t CCurlSocket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}

/* The context that was passed to CCurlSetReceiver. */
static inline void *CCurlContext(CURL *easy) {
    char *context = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
    return context;
}

static inline CURLMcode CCurlSetLimit(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Sets the callbacks that libcurl calls when the sockets or the time that it waits for change; NULL removes them. */
static inline CURLMcode CCurlSetWaiting(CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/* The next transfer that has ended, and its result; NULL if there is none. */
static inline CURL *CCurlNextEnded(CURLM *multi, CURLcode *result) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

/* Writes the address as 16 bytes, IPv4 mapped into IPv6; returns 0 for other families. */
static inline int CCurlAddress(const struct curl_sockaddr *address, unsigned char bytes[16]) {
    const unsigned char *raw = (const unsigned char *)&address->addr;
    for (int index = 0; index < 16; index++) bytes[index] = 0;
    if (address->family == AF_INET && address->addrlen >= 8) {
        bytes[10] = bytes[11] = 0xFF;
        for (int index = 0; index < 4; index++) bytes[12 + index] = raw[4 + index];
        return 1;
    }
    if (address->family == AF_INET6 && address->addrlen >= 24) {
        for (int index = 0; index < 16; index++) bytes[index] = raw[8 + index];
        return 1;
    }
    return 0;
}

static inline int CCurlIsUnixSocket(const struct curl_sockaddr *address) { return address->family == AF_UNIX; }

static inline curl_socket_t CCurlOpenSocket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
