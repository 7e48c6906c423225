/// Bytes that only grow, in memory lent to them for as long as they fit: the one place of this module that writes
/// through a pointer.
///
/// What `[UInt8]` does at every append (is the storage shared? large enough?) is done here once for each value.
@safe @usableFromInline
struct ByteBuffer: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var count = 0
    @usableFromInline var capacity: Int
    /// Whether the bytes have outgrown what was lent.
    @usableFromInline var isOwn = false

    private init(lent memory: UnsafeMutableBufferPointer<UInt8>, _ start: UnsafeMutablePointer<UInt8>) {
        unsafe self.start = unsafe start
        capacity = memory.count
    }

    @inlinable deinit { if isOwn { unsafe start.deallocate() } }

    /// An array of what `write` appends. It is written in place, unless it gets longer than `capacity`.
    static func array<Failure>(
        reserving capacity: Int, _ write: (consuming ByteBuffer) throws(Failure) -> ByteBuffer
    ) throws(Failure) -> [UInt8] {
        var outcome: Result<[UInt8]?, Failure> = .success(nil)
        var array: [UInt8] = []
        array.append(addingCapacity: max(capacity, 1)) { output in
            unsafe output.withUnsafeMutableBufferPointer { memory, count in
                guard let start = memory.baseAddress else { return }
                do throws(Failure) {
                    let buffer = try unsafe write(ByteBuffer(lent: memory, start))
                    if buffer.isOwn {
                        outcome = unsafe .success(
                            [UInt8](UnsafeBufferPointer(start: buffer.start, count: buffer.count)))
                    } else {
                        count = buffer.count
                    }
                } catch {
                    outcome = .failure(error)
                }
            }
        }
        return try outcome.get() ?? array
    }

    @inlinable
    mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        unsafe start[count] = byte
        count += 1
    }

    @inlinable
    mutating func append(_ bytes: Span<UInt8>) {
        if capacity - count < bytes.count { grow(by: bytes.count) }
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let first = source.baseAddress else { return }
            unsafe (start + count).update(from: first, count: source.count)
        }
        count += bytes.count
    }

    @inlinable
    mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        if capacity - count < length { grow(by: length) }
        unsafe (start + count).update(from: text.utf8Start, count: length)
        count += length
    }

    /// Lends room for `most` bytes and keeps as many as the closure says it has written. It MUST stay within `most`.
    @inlinable
    mutating func append(upTo most: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        if capacity - count < most { grow(by: most) }
        let written = unsafe write(start + count)
        precondition(written >= 0 && written <= most)
        count += written
    }

    @usableFromInline @inline(never)
    mutating func grow(by room: Int) {
        let larger = max(capacity * 2, count + room)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe moved.moveInitialize(from: start, count: count)
        if isOwn { unsafe start.deallocate() }
        unsafe start = unsafe moved
        capacity = larger
        isOwn = true
    }
}
