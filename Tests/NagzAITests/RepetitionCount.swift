import Foundation

/// Returns how often a test repeats its cases. The thread sanitizer is slow, and the cases share nothing that it could
/// watch.
func repetitionCount(_ count: Int) -> Int {
    ProcessInfo.processInfo.environment["NAGZ_FEWER_TESTS"] == nil ? count : min(count, 1_000)
}
