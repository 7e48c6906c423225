import Domain
import Reactor

/// The events that wait to be sent to one socket.
///
/// Clients load everything anew at each frame. So at most `framesPerBurst` frames are sent at once, and then one more
/// every `frameInterval`. Meanwhile events of one kind are merged into one frame, so that the queue never has more than
/// one frame of each kind. A frame keeps the place of its first event. The queue is a pure value with the clock as
/// input.
struct FrameQueue: Sendable {
    static let framesPerBurst = 2
    static let frameInterval = Duration.milliseconds(200)

    private var frames: [EventFrame] = []
    /// The time at which a full burst may be sent again.
    private var fullBurstAt = MonotonicTime(nanoseconds: 0)

    var isEmpty: Bool { frames.isEmpty }

    /// Adds an event, to the waiting frame of its kind if there is one.
    /// - Returns: whether there was one.
    mutating func mergeOrAppend(_ event: FamilyEvent) -> Bool {
        if let index = frames.firstIndex(where: { $0.kind == event.kind }) {
            frames[index].merge(event)
            return true
        }
        frames.append(EventFrame(event))
        return false
    }

    /// Takes the next frame if one may be sent now.
    mutating func takeNext(at now: MonotonicTime) -> EventFrame? {
        guard !frames.isEmpty, nextFrameTime.map({ $0 <= now }) ?? false else { return nil }
        fullBurstAt = max(fullBurstAt, now) + Self.frameInterval
        return frames.removeFirst()
    }

    /// The time at which the next frame may be sent; nil if none waits.
    var nextFrameTime: MonotonicTime? {
        guard !frames.isEmpty else { return nil }
        let lead = Self.frameInterval * (Self.framesPerBurst - 1)
        let wait = fullBurstAt.nanoseconds(since: MonotonicTime(nanoseconds: 0) + lead)
        return MonotonicTime(nanoseconds: UInt64(wait))
    }
}
