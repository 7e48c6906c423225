import Glibc

/// Two connected stream sockets, which the caller closes. No program that another test starts inherits them.
public func socketPair() -> (Int32, Int32) {
    var both: [Int32] = [-1, -1]
    precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &both) == 0)
    return (both[0], both[1])
}
