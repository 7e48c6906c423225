/// The 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo), which, unlike Swift's own hashes, is the same in every
/// run.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
