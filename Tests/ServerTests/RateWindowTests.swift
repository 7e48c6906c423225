import Contract
import Domain
import HTTP
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Rate limits under a flood of addresses")
struct RateWindowTests {
    private static func network(_ site: UInt64, _ number: UInt64) -> RateLimiter.Subject {
        .network(RemoteAddress(high: 0x2001_0db8_0000_0000 + site << 16 + number, low: 1, port: 1).network)
    }

    @Test("131,000 addresses of a few sites displace nobody's count, and are limited by their sites")
    func flood() throws {
        let limiter = RateLimiter()
        let now = Timestamp(seconds: 1_800_000_000)
        let victim = RateLimiter.Subject.user(UserID(high: 1, low: 2))
        let address = RateLimiter.Subject.network(RemoteAddress.loopback.network)
        for _ in 0..<200 { for subject in [victim, address] { _ = limiter.consume(subject, .read, at: now) } }
        var allowed = 0
        for number in 0..<UInt64(200_000) {
            let quota = try #require(limiter.consume(Self.network(number >> 16, number & 0xFFFF), .read, at: now))
            allowed += quota.isAllowed ? 1 : 0
        }
        for subject in [victim, address] {
            #expect(try #require(limiter.consume(subject, .read, at: now)).remaining == 300 - 201)
        }
        // What there is room for, and 300 for each of the four sites.
        #expect(allowed <= 16 * RateLimiter.maxSubjectsPerShard + 4 * 300)
        let next = try #require(limiter.consume(Self.network(3, 0x1234), .read, at: now + .minutes(1)))
        #expect(next.remaining == 299, "the minute is over for all")
    }

    @Test("Retry-After is the number of whole seconds after which a limit has ended, at least one")
    func retryAfter() {
        let now = Timestamp(seconds: 1_800_000_000)
        for (microseconds, seconds) in [(0, 1), (1, 1), (1_000_000, 1), (1_000_001, 2), (59_999_999, 60)]
            as [(Int64, Int)]
        {
            #expect(APIError.retrySeconds(from: now, to: now + Timestamp.Span(microseconds: microseconds)) == seconds)
        }
    }

    @Test("expired counts are evicted first, then the smallest")
    func eviction() {
        var windows = RateWindows<Int>(keyLimit: 8)
        for key in 0..<8 { for _ in 0...(key == 5 ? 0 : key + 3) { _ = windows.increment(key, in: 1) } }
        let first = windows.increment(100, in: 1)
        #expect(first == 1 && windows.keyCount == 8 && windows.count(5, in: 1) == nil)
        #expect([0, 1, 2, 3, 4, 6, 7].allSatisfy { windows.count($0, in: 1) == $0 + 4 })
        let again = windows.increment(7, in: 1)
        windows.decrement(7, in: 1)
        #expect(again == 12 && windows.count(7, in: 1) == 11)
        // A window later they are all over.
        let later = windows.increment(200, in: 2)
        #expect(later == 1 && windows.keyCount == 1)
        let known = windows.increment(7, in: 2)
        #expect(known == 1)
    }

    @Test("a subject with many requests keeps its count among any number of subjects with one")
    func often() {
        var windows = RateWindows<Int>(keyLimit: 64)
        for _ in 0..<50 { _ = windows.increment(-1, in: 1) }
        for key in 0..<10_000 { _ = windows.increment(key, in: 1) }
        #expect(windows.count(-1, in: 1) == 50 && windows.keyCount == 64)
    }
}
