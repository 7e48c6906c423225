import CCrypto

/// Agreement on a secret over the curve P-256 (ECDH), by libcrypto.
enum P256 {
    /// The length of a public key in bytes: the byte 4 and two coordinates of 32 bytes.
    static let publicKeyLength = 65

    /// Whether the bytes are a public key, which is a point on the curve.
    static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return false }
        defer { EC_GROUP_free(group) }
        guard let point = point(bytes, group) else { return false }
        EC_POINT_free(point)
        return true
    }

    /// Returns the public key of a private key, and the secret that it shares with the holder of another public key.
    /// - Parameter privateKey: a number of 32 bytes.
    /// - Returns: nil if one of the keys is invalid, or libcrypto fails.
    static func agreement(
        of privateKey: [UInt8], with otherPublicKey: [UInt8]
    ) -> (publicKey: [UInt8], secret: [UInt8])? {
        guard privateKey.count == 32, let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        defer { EC_GROUP_free(group) }
        guard let scalar = BN_bin2bn(privateKey, 32, nil) else { return nil }
        defer { BN_clear_free(scalar) }
        guard BN_is_zero(scalar) == 0, BN_cmp(scalar, EC_GROUP_get0_order(group)) < 0,
            let peer = point(otherPublicKey, group)
        else { return nil }
        defer { EC_POINT_free(peer) }
        guard let ownPoint = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_free(ownPoint) }
        guard let sharedPoint = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_clear_free(sharedPoint) }
        guard EC_POINT_mul(group, ownPoint, scalar, nil, nil, nil) == 1,
            EC_POINT_mul(group, sharedPoint, nil, peer, scalar, nil) == 1,
            let publicKey = bytes(ownPoint, group), let secret = bytes(sharedPoint, group)
        else { return nil }
        return (publicKey, Array(secret[1..<33]))
    }

    /// Returns the point that the bytes encode; nil if it is not on the curve. The caller frees it.
    private static func point(_ bytes: [UInt8], _ group: OpaquePointer) -> OpaquePointer? {
        guard bytes.count == publicKeyLength, bytes[0] == 4, let point = EC_POINT_new(group) else { return nil }
        guard EC_POINT_oct2point(group, point, bytes, bytes.count, nil) == 1 else {
            EC_POINT_free(point)
            return nil
        }
        return point
    }

    /// Returns the public key that a point is; nil if libcrypto fails.
    private static func bytes(_ point: OpaquePointer, _ group: OpaquePointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: publicKeyLength)
        let count = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return count == publicKeyLength ? bytes : nil
    }
}
