import CLinux

/// Carries a non-Sendable value between two pieces of code that run on the same loop's thread.
///
/// It is sound only if both run on the same loop; debug builds trap otherwise.
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

/// Returns the number of the loop that the calling thread runs; 0 for none.
@usableFromInline func currentLoopNumber() -> UInt64 { CLinuxLoop() }
