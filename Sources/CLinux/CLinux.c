#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(CLinuxReadable == EPOLLIN && CLinuxWritable == EPOLLOUT && CLinuxError == EPOLLERR
               && CLinuxHangUp == EPOLLHUP && CLinuxPeerClosed == EPOLLRDHUP, "epoll's numbers");

int CLinuxWatch(int epoll, int operation, int descriptor, uint32_t generation, uint32_t events) {
    struct epoll_event event = { .events = events,
                                 .data = { .u64 = (uint64_t)generation << 32 | (uint32_t)descriptor } };
    return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

int CLinuxWait(int epoll, struct CLinuxEvent *events, int capacity, int timeout) {
    struct epoll_event raw[256];
    int count = epoll_wait(epoll, raw, capacity < 256 ? capacity : 256, timeout);
    for (int i = 0; i < count; i++)
        events[i] = (struct CLinuxEvent){ .descriptor = (int32_t)(raw[i].data.u64 & 0xffffffff),
                                          .generation = (uint32_t)(raw[i].data.u64 >> 32),
                                          .events = raw[i].events };
    return count >= 0 ? count : -errno;
}

int CLinuxAccept(int listener, uint8_t address[16], uint16_t *port) {
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int descriptor = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return -errno;
    memset(address, 0, 16);
    *port = 0;
    if (peer.ss_family == AF_INET6) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&peer;
        memcpy(address, &v6->sin6_addr, 16);
        *port = ntohs(v6->sin6_port);
    } else if (peer.ss_family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&peer;
        address[10] = address[11] = 0xff;
        memcpy(address + 12, &v4->sin_addr, 4);
        *port = ntohs(v4->sin_port);
    }
    return descriptor;
}

/* A stream socket bound to a numeric address, or -errno. */
static int boundSocket(const char *address, uint16_t port, int isShared) {
    struct sockaddr_storage local;
    memset(&local, 0, sizeof local);
    struct sockaddr_in *v4 = (struct sockaddr_in *)&local;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&local;
    socklen_t length;
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        length = sizeof *v4;
    } else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        length = sizeof *v6;
    } else {
        return -EINVAL;
    }
    int descriptor = socket(local.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int one = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0
        || (isShared && setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) != 0)
        || bind(descriptor, (struct sockaddr *)&local, length) != 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

int CLinuxListen(const char *address, uint16_t port, int backlog) {
    int descriptor = boundSocket(address, port, 1);
    if (descriptor < 0 || listen(descriptor, backlog) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

int CLinuxProbePort(const char *address, uint16_t port) {
    int descriptor = boundSocket(address, port, 0);
    if (descriptor < 0) return descriptor;
    close(descriptor);
    return 0;
}

void CLinuxReturnLargeBlocks(void) {
    mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
}

int CLinuxLocalPort(int descriptor) {
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    if (getsockname(descriptor, (struct sockaddr *)&local, &length) != 0) return -errno;
    return ntohs(local.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&local)->sin6_port
                                             : ((struct sockaddr_in *)&local)->sin_port);
}

int CLinuxSetNoDelay(int descriptor) {
    int one = 1;
    return setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0 ? 0 : -errno;
}

int CLinuxTerminationDescriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    int error = pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (error != 0) return -error;
    int descriptor = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

int CLinuxTakeSignal(int descriptor) {
    struct signalfd_siginfo info;
    return read(descriptor, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void CLinuxNameThread(const char *name) {
    char shortName[16];
    snprintf(shortName, sizeof shortName, "%s", name);
    pthread_setname_np(pthread_self(), shortName);
}

static _Thread_local uint64_t loop;

void CLinuxSetLoop(uint64_t number) { loop = number; }

uint64_t CLinuxLoop(void) { return loop; }
