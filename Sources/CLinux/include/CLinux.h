// The few Linux calls that Swift's Glibc module does not show in a usable form.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { CLinuxReadable = 0x001, CLinuxWritable = 0x004, CLinuxError = 0x008, CLinuxHangUp = 0x010,
       CLinuxPeerClosed = 0x2000 };

/// epoll_ctl with the descriptor and a generation as its data; returns 0 or -errno.
int CLinuxWatch(int epoll, int operation, int descriptor, uint32_t generation, uint32_t events);

/// One readiness event, as CLinuxWatch named its descriptor.
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

/// Whether CLinuxListen would have the port to itself: 0, or -EADDRINUSE where somebody listens already, even with
/// SO_REUSEPORT; another -errno where the address cannot be used.
int CLinuxProbePort(const char *address, uint16_t port);

/// Memory of 1 MB or more goes back to the system when it is freed, instead of by what malloc has seen so far.
void CLinuxReturnLargeBlocks(void);

/// The local port of a socket, or -errno.
int CLinuxLocalPort(int descriptor);

/// TCP_NODELAY on; returns 0 or -errno.
int CLinuxNoDelay(int descriptor);

/// A non-blocking descriptor that becomes readable when SIGTERM or SIGINT arrives; blocks both for every thread made
/// after it. Returns the descriptor or -errno.
int CLinuxTerminationDescriptor(void);

/// Takes one pending signal from such a descriptor; returns its number, 0 when none is pending.
int CLinuxTakeSignal(int descriptor);

/// The number that the calling thread was last given by CLinuxSetLoop, at first 0.
void CLinuxSetLoop(uint64_t number);
uint64_t CLinuxLoop(void);

/// Names the calling thread; the kernel keeps 15 bytes.
void CLinuxNameThread(const char *name);
