import Domain

extension API {
    /// Bytes of a form beside the picture in it: boundaries and heads of parts.
    static let formOverhead = 64 << 10
}
