import Reactor

/// Carries messages to one loop, in the order in which they were sent.
///
/// It can be used from any thread. The loop takes all waiting messages together.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var receive: LoopBound<([Message]) -> Void>?
        var isClosed = false
    }

    private let loop: EventLoop
    private let state = Locked(State())

    init(_ loop: EventLoop) { self.loop = loop }

    /// Sets the receiver, which is called on the loop. Messages that were sent before wait for it. This method MUST be
    /// called on the loop.
    func open(_ receive: @escaping ([Message]) -> Void) {
        let bound = LoopBound(value: receive)
        state.withLock { $0.receive = bound }
        deliver()
    }

    /// Releases the receiver; later messages are dropped.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.receive = nil
            state.messages = []
        }
    }

    func send(_ message: Message) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            state.messages.append(message)
            return state.messages.count == 1
        }
        if isFirst { loop.post { [self] _ in deliver() } }
    }

    private func deliver() {
        let (messages, receive) = state.withLock { state -> ([Message], LoopBound<([Message]) -> Void>?) in
            guard let receive = state.receive else { return ([], nil) }
            defer { state.messages = [] }
            return (state.messages, receive)
        }
        if let receive, !messages.isEmpty { receive.value(messages) }
    }
}
