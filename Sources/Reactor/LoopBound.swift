import CLinux

/// A value that only ever exists on one loop's thread, on its way between two pieces of code of that same loop.
///
/// Sound only where both ends run on the same loop: debug builds trap where one does not.
public struct LoopBound<Value>: @unchecked Sendable {
    @usableFromInline let content: Value
    @usableFromInline let loop: UInt64

    @inlinable public init(value: Value) {
        content = value
        loop = currentLoopNumber()
        assert(loop != 0, "not on an event loop's thread")
    }

    @inlinable public var value: Value {
        assert(loop == currentLoopNumber(), "opened on another thread than its event loop's")
        return content
    }
}

/// The number of the loop whose jobs the calling thread runs, 0 for none.
@usableFromInline func currentLoopNumber() -> UInt64 { CLinuxLoop() }
