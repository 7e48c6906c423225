import Testing

@testable import HTTP

@Suite("Requested ranges")
struct RequestedRangeTests {
    @Test(
        "a range of a content of ten bytes is a part, unsatisfiable or ignored",
        arguments: [
            ("bytes=0-0", RequestedRange.part(0..<1)), ("bytes=2-4", .part(2..<5)), ("bytes=9-", .part(9..<10)),
            ("bytes=-3", .part(7..<10)), ("bytes=-11", .part(0..<10)), ("BYTES=00-09", .part(0..<10)),
            ("bytes=5-9223372036854775807", .part(5..<10)), ("bytes=5-9999999999999999999999", .part(5..<10)),
            ("bytes=-9999999999999999999999", .part(0..<10)), ("bytes=10-", .unsatisfiable),
            ("bytes=9999999999999999999999-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=4-3", .completeContent), ("bytes=0-1,3-4", .completeContent), ("bytes=", .completeContent),
            ("bytes=-", .completeContent), ("bytes=1", .completeContent), ("bytes=+1-2", .completeContent),
            ("bytes=1- 2", .completeContent), ("bytes=1-2 ", .completeContent), ("bytes = 1-2", .completeContent),
            ("items=1-2", .completeContent), ("", .completeContent),
        ])
    func fields(_ field: String, _ range: RequestedRange) {
        #expect(RequestedRange(field, of: 10) == range)
    }

    @Test("a range of empty content is unsatisfiable", arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func nothing(_ field: String) {
        #expect(RequestedRange(field, of: 0) == .unsatisfiable)
    }
}
