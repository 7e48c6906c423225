// Linux calls that Swift's Glibc module does not provide in a usable form.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { CLinuxReadable = 0x001, CLinuxWritable = 0x004, CLinuxError = 0x008, CLinuxHangUp = 0x010,
       CLinuxPeerClosed = 0x2000 };

/// epoll_ctl with the descriptor and a generation as its data; returns 0 or -errno.
int CLinuxWatch(int epoll, int operation, int descriptor, uint32_t generation, uint32_t events);

/// One readiness event, with the descriptor and generation passed to CLinuxWatch.
struct CLinuxEvent {
    int32_t descriptor;
    uint32_t generation;
    uint32_t events;
};

/// epoll_wait for at most 256 events; returns how many, or -errno.
int CLinuxWait(int epoll, struct CLinuxEvent *events, int capacity, int timeout);

/// accept4, non-blocking and close-on-exec. Writes the peer's address as 16 bytes (IPv4 mapped into IPv6) and its port;
/// returns the descriptor or -errno.
int CLinuxAccept(int listener, uint8_t address[16], uint16_t *port);

/// A listening, non-blocking TCP socket with SO_REUSEADDR and SO_REUSEPORT on a numeric IPv4 or IPv6 address;
/// port 0 lets the kernel choose. Returns the descriptor or -errno.
int CLinuxListen(const char *address, uint16_t port, int backlog);

/// Whether the port is free: 0, or -EADDRINUSE if a socket listens on it already, even with SO_REUSEPORT; another -errno if the
/// address cannot be used.
int CLinuxProbePort(const char *address, uint16_t port);

/// Makes free() return to the system: each block of 1 MB or more, and free memory beyond 4 MB at the end of a heap.
/// Malloc then no longer adapts these thresholds.
void CLinuxReturnLargeBlocks(void);

/// The local port of a socket, or -errno.
int CLinuxLocalPort(int descriptor);

/// Turns on TCP_NODELAY; returns 0 or -errno.
int CLinuxSetNoDelay(int descriptor);

/// A non-blocking descriptor that becomes readable when SIGTERM or SIGINT arrives. Blocks both signals in the calling thread
/// and in threads it creates later. Returns the descriptor or -errno.
int CLinuxTerminationDescriptor(void);

/// Reads one pending signal from such a descriptor; returns its number, or 0 if none is pending.
int CLinuxTakeSignal(int descriptor);

/// Sets and gets the number of the event loop that the calling thread runs; 0 for none.
void CLinuxSetLoop(uint64_t number);
uint64_t CLinuxLoop(void);

/// Sets the calling thread's name; the kernel keeps 15 bytes.
void CLinuxNameThread(const char *name);
