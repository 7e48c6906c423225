import Reactor
import Testing

@testable import Postgres

@Suite("The session pool's queue")
struct SessionPoolTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func pool(
        _ sessions: Int, of connections: Int? = nil, perConnection: Int = 1, queue: Int = 8
    ) -> SessionPool {
        var limits = Database.Limits()
        limits.connections = connections ?? sessions
        limits.batchesPerConnection = perConnection
        limits.waitingRequests = queue
        var pool = SessionPool(limits)
        for id in 0..<sessions {
            #expect(pool.beginAttempt() == true)
            #expect(pool.sessionOpened(id) == [])
        }
        return pool
    }

    @Test("those who wait for a session are served in order of arrival, and a newcomer does not overtake")
    func order() {
        var pool = pool(1)
        #expect(pool.tryAcquire(for: .write) == 0)
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        #expect(pool.acquire(for: .exclusive, until: Self.start + .seconds(2)) == .waiting(ticket: 3))
        #expect(pool.tryAcquire(for: .read) == nil)
        #expect(pool.waitingRequests == 3)
        for (ticket, held) in [(1, .write), (2, .write), (3, .read)] as [(UInt64, SessionPool.Purpose)] {
            let (grants, mustClose) = pool.release(0, from: held)
            #expect(grants == [.init(ticket: ticket, sessionID: 0)] && !mustClose)
        }
        #expect(pool.waitingRequests == 0 && pool.nextDeadline == nil)
    }

    @Test("requests spread over the sessions with the fewest users, up to the limit of each")
    func spread() {
        var pool = pool(2, perConnection: 2)
        let sessions = (0..<5).map { _ in pool.tryAcquire(for: .read) }
        #expect(sessions == [0, 1, 0, 1, nil])
        // Only a session that nobody holds is given to a transaction.
        _ = pool.release(1, from: .read)
        #expect(pool.tryAcquire(for: .exclusive) == nil)
        _ = pool.release(1, from: .read)
        #expect(pool.tryAcquire(for: .exclusive) == 1)
        _ = pool.release(0, from: .read)
        #expect(pool.tryAcquire(for: .read) == 0)
        #expect(pool.tryAcquire(for: .read) == nil)
    }

    @Test("a read that comes while only writes wait gets the session kept for reads")
    func newcomer() {
        var pool = pool(3)
        #expect([pool.tryAcquire(for: .exclusive), pool.tryAcquire(for: .exclusive)] == [1, 2])
        #expect(pool.acquire(for: .exclusive, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .granted(sessionID: 0))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        #expect(pool.tryAcquire(for: .read) == nil)
    }

    @Test("of three sessions one is kept for reads, and nothing is sent behind a write")
    func reserved() {
        var pool = pool(3, perConnection: 2)
        let writes = (0..<3).map { _ in pool.tryAcquire(for: .write) }
        #expect(writes == [1, 2, nil])
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        // Reads pass the write that waits, on the session kept for them, up to its limit.
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .granted(sessionID: 0))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .granted(sessionID: 0))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        #expect(pool.release(0, from: .read).grants == [.init(ticket: 2, sessionID: 0)])
        #expect(pool.release(1, from: .write).grants == [.init(ticket: 1, sessionID: 1)])
    }

    @Test("a quarter of the sessions is for bulk reads, and those that wait for it delay nobody else")
    func bulkReads() {
        var pool = pool(8, perConnection: 2)
        let bulkReads = (0..<3).map { _ in pool.tryAcquire(for: .bulkRead) }
        #expect(bulkReads == [0, 1, nil])
        for ticket in [1, 2] as [UInt64] {
            #expect(pool.acquire(for: .bulkRead, until: Self.start + .seconds(2)) == .waiting(ticket: ticket))
        }
        #expect([pool.tryAcquire(for: .read), pool.tryAcquire(for: .write)] == [2, 3])
        #expect(pool.tryAcquire(for: .exclusive) == 4)
        #expect(pool.release(2, from: .read).grants == [])
        #expect(pool.release(3, from: .write).grants == [])
        #expect(pool.release(1, from: .bulkRead).grants == [.init(ticket: 1, sessionID: 1)])
        // A newcomer does not pass those who wait.
        #expect(pool.acquire(for: .bulkRead, until: Self.start + .seconds(1)) == .waiting(ticket: 3))
        #expect(pool.nextDeadline == Self.start + .seconds(1))
        #expect(pool.expire(at: Self.start + .seconds(1)) == [3])
        #expect(pool.cancel(2).wasWaiting && pool.waitingRequests == 0)
    }

    @Test("of few sessions one may have a bulk read, which overtakes waiting writes as other reads do")
    func bulkReadAndWrites() {
        var pool = pool(3)
        #expect([pool.tryAcquire(for: .write), pool.tryAcquire(for: .write)] == [1, 2])
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .bulkRead, until: Self.start + .seconds(2)) == .granted(sessionID: 0))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        #expect(pool.acquire(for: .bulkRead, until: Self.start + .seconds(2)) == .waiting(ticket: 3))
        #expect(pool.release(0, from: .bulkRead).grants == [.init(ticket: 2, sessionID: 0)])
        #expect(pool.release(0, from: .read).grants == [.init(ticket: 3, sessionID: 0)])
        #expect(pool.release(1, from: .write).grants == [.init(ticket: 1, sessionID: 1)])
    }

    @Test("a bulk read that is lost with its session lets the next one begin")
    func lostBulkRead() {
        var pool = pool(2)
        #expect(pool.tryAcquire(for: .bulkRead) == 0)
        #expect(pool.acquire(for: .bulkRead, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.sessionLost(0).grants == [.init(ticket: 1, sessionID: 1)])
        #expect(pool.release(0, from: .bulkRead).grants == [])
    }

    @Test("the pool's timer is for the earliest deadline, and those whose time is over leave the queue")
    func timeout() {
        var pool = pool(1)
        _ = pool.tryAcquire(for: .exclusive)
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(3)) == .waiting(ticket: 2))
        #expect(pool.acquire(for: .write, until: Self.start + .milliseconds(3_500)) == .waiting(ticket: 3))
        #expect(pool.nextDeadline == Self.start + .seconds(2))
        #expect(pool.expire(at: Self.start + .milliseconds(1_999)) == [])
        #expect(pool.expire(at: Self.start + .seconds(2)) == [1])
        #expect(pool.nextDeadline == Self.start + .seconds(3))
        #expect(pool.expire(at: Self.start + .seconds(3)) == [2])
        let (grants, _) = pool.release(0, from: .exclusive)
        #expect(grants == [.init(ticket: 3, sessionID: 0)])
        #expect(pool.expire(at: Self.start + .seconds(9)) == [])
        #expect(pool.nextDeadline == nil)
    }

    @Test("among those who wait the earliest deadline comes first, wherever its request is in the queue")
    func deadlines() {
        var pool = pool(1)
        _ = pool.tryAcquire(for: .exclusive)
        for (ticket, seconds) in [(1, 3), (2, 1), (3, 2)] as [(UInt64, Int)] {
            let deadline = Self.start + .seconds(seconds)
            #expect(pool.acquire(for: .write, until: deadline) == .waiting(ticket: ticket))
        }
        #expect(pool.nextDeadline == Self.start + .seconds(1))
        #expect(pool.expire(at: Self.start + .seconds(1)) == [2])
        #expect(pool.nextDeadline == Self.start + .seconds(2))
        #expect(pool.expire(at: Self.start + .seconds(2)) == [3])
        #expect(pool.release(0, from: .exclusive).grants == [.init(ticket: 1, sessionID: 0)])
        #expect(pool.nextDeadline == nil)
    }

    @Test("a cancelled request leaves the queue at once: there is room again, and those behind move up")
    func cancellation() {
        var pool = pool(1, queue: 2)
        _ = pool.tryAcquire(for: .write)
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(3)) == .waiting(ticket: 2))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .tooManyWaiting)
        let first = pool.cancel(1)
        #expect(first.wasWaiting && first.grants == [])
        #expect(pool.waitingRequests == 1 && pool.nextDeadline == Self.start + .seconds(3))
        // Twice, and who never waited.
        #expect(pool.cancel(1).wasWaiting == false && pool.cancel(9).wasWaiting == false)
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(3)) == .waiting(ticket: 3))
        #expect(pool.release(0, from: .write).grants == [.init(ticket: 2, sessionID: 0)])
        // Who has a session already waits no more.
        #expect(pool.cancel(2).wasWaiting == false)
        #expect(pool.release(0, from: .read).grants == [.init(ticket: 3, sessionID: 0)])
        #expect(pool.waitingRequests == 0 && pool.nextDeadline == nil)
    }

    @Test("a read that only waited behind a cancelled transaction is served at once")
    func cancellationInFront() {
        var pool = pool(1, perConnection: 2)
        #expect(pool.tryAcquire(for: .read) == 0)
        #expect(pool.acquire(for: .exclusive, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        let (wasWaiting, grants) = pool.cancel(1)
        #expect(wasWaiting && grants == [.init(ticket: 2, sessionID: 0)])
        #expect(pool.waitingRequests == 0)
    }

    @Test("a full queue and a closed pool refuse requests")
    func refusals() {
        var pool = pool(0, of: 1, queue: 2)
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .write, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .tooManyWaiting)
        #expect(pool.refuseAllWaiting() == [1, 2])
        #expect(pool.waitingRequests == 0)
        pool.close()
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .closed)
        #expect(pool.beginAttempt() == false)
    }

    @Test("the pool opens no more sessions than its limit, and those who wait get the new one")
    func opening() {
        var pool = pool(0, of: 2, perConnection: 2)
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.acquire(for: .exclusive, until: Self.start + .seconds(2)) == .waiting(ticket: 2))
        let attempts = (0..<3).map { _ in pool.beginAttempt() }
        #expect(attempts == [true, true, false])
        #expect(pool.sessionOpened(7) == [.init(ticket: 1, sessionID: 7)])
        #expect(pool.sessionOpened(8) == [.init(ticket: 2, sessionID: 8)])
        #expect(pool.beginAttempt() == false)
    }

    @Test("pauses between connection attempts double up to a second, until a session is open")
    func reconnect() {
        var pool = pool(0, of: 1)
        let pauses = (0..<7).map { _ in
            #expect(pool.beginAttempt() == true)
            return pool.attemptFailed()
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1_000, 1_000].map { .milliseconds($0) })
        #expect(pool.beginAttempt() == true)
        #expect(pool.sessionOpened(1) == [])
        #expect(pool.sessionLost(1).pause == .milliseconds(50))
        #expect(pool.beginAttempt() == true)
        pool.close()
        #expect(pool.attemptFailed() == nil)
    }

    @Test("a lost session serves nobody, and returning it changes nothing")
    func sessionLost() {
        var pool = pool(1)
        _ = pool.tryAcquire(for: .write)
        #expect(pool.acquire(for: .read, until: Self.start + .seconds(2)) == .waiting(ticket: 1))
        #expect(pool.sessionLost(0).pause == .milliseconds(50))
        let (grants, mustClose) = pool.release(0, from: .write)
        #expect(grants.isEmpty && !mustClose && pool.waitingRequests == 1)
        #expect(pool.beginAttempt() == true)
        #expect(pool.sessionOpened(1) == [.init(ticket: 1, sessionID: 1)])
    }

    @Test("a retired session serves nobody, and is closed when the last user returns it")
    func retired() {
        var pool = pool(1, perConnection: 2)
        _ = (pool.tryAcquire(for: .read), pool.tryAcquire(for: .read))
        pool.retire(0)
        #expect(pool.release(0, from: .read).mustClose == false)
        #expect(pool.tryAcquire(for: .read) == nil)
        #expect(pool.release(0, from: .read).mustClose == true)
    }
}
