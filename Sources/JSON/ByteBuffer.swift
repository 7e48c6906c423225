/// An append-only byte buffer. It writes to lent memory as long as the bytes fit, and then to memory of its own.
///
/// `[UInt8]` checks at every append whether its storage is unique and large enough; this type checks once per value.
@safe @usableFromInline
struct ByteBuffer: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var count = 0
    @usableFromInline var capacity: Int
    /// Whether the bytes outgrew the lent memory, so that this value owns its storage.
    @usableFromInline var ownsStorage = false

    private init(lent memory: UnsafeMutableBufferPointer<UInt8>, _ start: UnsafeMutablePointer<UInt8>) {
        unsafe self.start = unsafe start
        capacity = memory.count
    }

    @inlinable deinit { if ownsStorage { unsafe start.deallocate() } }

    /// Returns the bytes that `write` appends. They are copied only if they exceed `capacity`.
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
                    if buffer.ownsStorage {
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

    /// Lends memory for `limit` bytes, and appends as many of them as the closure returns. The closure MUST NOT write
    /// more than `limit` bytes.
    @inlinable
    mutating func append(upTo limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        if capacity - count < limit { grow(by: limit) }
        let written = unsafe write(start + count)
        precondition(written >= 0 && written <= limit)
        count += written
    }

    @usableFromInline @inline(never)
    mutating func grow(by additional: Int) {
        let newCapacity = max(capacity * 2, count + additional)
        let newStart = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe newStart.moveInitialize(from: start, count: count)
        if ownsStorage { unsafe start.deallocate() }
        unsafe start = unsafe newStart
        capacity = newCapacity
        ownsStorage = true
    }
}
