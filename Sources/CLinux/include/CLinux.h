// The few Linux calls that Swift's Glibc module does not show in a usable form.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { CLinuxReadable = EPOLLIN, CLinuxWritable = EPOLLOUT, CLinuxPeerClosed = EPOLLRDHUP,
       CLinuxHangUp = EPOLLHUP, CLinuxError = EPOLLERR };

/// epoll_ctl with the descriptor and a generation as its data; returns 0 or -errno.
static inline int CLinuxWatch(int epoll, int operation, int descriptor, uint32_t generation, uint32_t events) {
    struct epoll_event event = { .events = events,
                                 .data = { .u64 = (uint64_t)generation << 32 | (uint32_t)descriptor } };
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

/// accept4, non-blocking and close-on-exec; returns the descriptor or -errno.
static inline int CLinuxAccept(int listener, struct sockaddr *address, socklen_t *length) {
    int descriptor = accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}
