import Domain

/// An open socket, as the hub knows it.
struct SocketRecord: Sendable {
    /// The ID, unique in this process.
    let id: UInt64
    /// The number of the socket's loop.
    let loop: Int
    let family: FamilyID
    let user: UserID
    /// The session; nil for a development token.
    let session: SessionID?
    var role: FamilyRole
    /// The family's sequence number up to which the socket has been notified.
    var notifiedSeq: Int64
    /// The time at which the socket's handshake began.
    var handshakeBeganAt: Timestamp

    /// Returns whether an event of a connection may be new to the socket. Two seconds are subtracted, because an event
    /// that was committed about when the socket opened may have an earlier time.
    func mayBeNew(_ event: FamilyEvent) -> Bool { event.at > handshakeBeganAt - .seconds(2) }
}
