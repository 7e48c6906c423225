import Domain

/// The open sockets of all loops by family, and the sequence number up to which each family's events were read. It is
/// the hub's state as a pure value.
struct SocketDirectory {
    private struct Family {
        var sockets: [UInt64: SocketRecord] = [:]
        /// The sequence number up to which the family's events were read.
        var readSeq: Int64
    }

    private var families: [FamilyID: Family] = [:]
    /// The families with events that are not read yet.
    private var unread: Set<FamilyID> = []
    /// The families whose sockets the current round of checks has not reached yet.
    private var uncheckedFamilies: [FamilyID] = []
    /// The family of each socket of a person, by the socket's ID.
    private var socketsOfUser: [UserID: [UInt64: FamilyID]] = [:]

    var isEmpty: Bool { families.isEmpty }
    var hasUnread: Bool { !unread.isEmpty }
    var users: [UserID] { Array(socketsOfUser.keys) }

    /// Adds a socket.
    /// - Returns: whether it is the person's first socket on this instance.
    mutating func insertReportingArrival(_ socket: SocketRecord) -> Bool {
        var family = families[socket.family] ?? Family(readSeq: socket.notifiedSeq)
        family.sockets[socket.id] = socket
        if socket.notifiedSeq < family.readSeq {
            // The family has changed since the socket's handshake: it is read again from there.
            family.readSeq = socket.notifiedSeq
            unread.insert(socket.family)
        }
        families[socket.family] = family
        socketsOfUser[socket.user, default: [:]][socket.id] = socket.family
        return socketsOfUser[socket.user]?.count == 1
    }

    /// Removes a socket.
    /// - Returns: the person, if it was their last socket on this instance.
    mutating func removeReportingDeparture(_ id: UInt64, of family: FamilyID) -> UserID? {
        guard let socket = families[family]?.sockets.removeValue(forKey: id) else { return nil }
        if families[family]?.sockets.isEmpty == true {
            families[family] = nil
            unread.remove(family)
        }
        socketsOfUser[socket.user]?[id] = nil
        guard socketsOfUser[socket.user]?.isEmpty == true else { return nil }
        socketsOfUser[socket.user] = nil
        return socket.user
    }

    /// Marks a family as changed, if it has sockets on this instance.
    mutating func markChanged(_ family: FamilyID) {
        if families[family] != nil { unread.insert(family) }
    }

    /// The families with sockets, and the sequence number up to which each was read.
    var positions: [(family: FamilyID, seq: Int64)] { families.map { ($0.key, $0.value.readSeq) } }

    /// Returns at most `limit` families with unread events and their positions, and marks them as read.
    mutating func takeUnread(_ limit: Int) -> [(family: FamilyID, seq: Int64)] {
        let taken = unread.prefix(limit)
        unread.subtract(taken)
        return taken.compactMap { family in families[family].map { (family, $0.readSeq) } }
    }

    func sockets(of families: [FamilyID]) -> [SocketRecord] {
        families.flatMap { self.families[$0].map { Array($0.sockets.values) } ?? [] }
    }

    /// Returns the sockets of these people.
    func sockets(of people: Set<UserID>) -> [SocketRecord] {
        people.flatMap { user in
            (socketsOfUser[user] ?? [:]).compactMap { id, family in families[family]?.sockets[id] }
        }
    }

    /// Returns whether a socket is still open.
    func contains(_ socket: SocketRecord) -> Bool { families[socket.family]?.sockets[socket.id] != nil }

    /// Returns whether a person has sockets on this instance.
    func contains(_ user: UserID) -> Bool { socketsOfUser[user] != nil }

    /// Returns whether a family has sockets on this instance.
    func contains(_ family: FamilyID) -> Bool { families[family] != nil }

    /// Returns the sockets of the next families to check: `count` or more, but fewer at the end of a round. Repeated
    /// calls reach every socket in turn.
    mutating func nextSocketsToCheck(stoppingAt count: Int) -> [SocketRecord] {
        if uncheckedFamilies.isEmpty { uncheckedFamilies = Array(families.keys) }
        var taken: [SocketRecord] = []
        while taken.count < count, let family = uncheckedFamilies.popLast() {
            taken += families[family].map { Array($0.sockets.values) } ?? []
        }
        return taken
    }

    mutating func setRole(_ role: FamilyRole, of socket: SocketRecord) {
        families[socket.family]?.sockets[socket.id]?.role = role
    }

    /// Records that a family's events after the sequence number `start`, up to `end`, were read.
    /// - Parameter events: those events, in order.
    /// - Returns: the events that each socket is to be notified of.
    mutating func advance(
        _ family: FamilyID, from start: Int64, to end: Int64, _ events: [FamilyEvent]
    ) -> [(socket: SocketRecord, events: [FamilyEvent])] {
        guard var entry = families[family] else { return [] }
        // A smaller number is that of a socket that was added meanwhile: the family is read again from there.
        if entry.readSeq >= start { entry.readSeq = max(entry.readSeq, end) }
        var deliveries: [(SocketRecord, [FamilyEvent])] = []
        for (id, socket) in entry.sockets where socket.notifiedSeq >= start && socket.notifiedSeq < end {
            entry.sockets[id]?.notifiedSeq = end
            let visible = events.filter {
                $0.seq > socket.notifiedSeq && $0.audience.includes(socket.user, socket.role)
            }
            if !visible.isEmpty { deliveries.append((socket, visible)) }
        }
        families[family] = entry
        return deliveries
    }
}
