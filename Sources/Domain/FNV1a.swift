/// The 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo), which, unlike Swift's own hashes, is the same in every
/// run.
package struct FNV1a {
    /// The hash of the bytes that were added so far.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// Adds bytes to the hash.
    package mutating func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
