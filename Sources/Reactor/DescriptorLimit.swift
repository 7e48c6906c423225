import Glibc

/// The limit on open descriptors of this process.
public enum DescriptorLimit {
    /// Returns the current limit (low by default, for programs that use select), and the one to which it may be raised.
    public static func current() -> (soft: Int, hard: Int) {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return (1_024, 1_024) }
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }

    /// Raises the soft limit to the hard limit.
    /// - Returns: the soft limit, which is the old one if the system refuses to raise it.
    public static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1_024 }
        var newLimit = limit
        newLimit.rlim_cur = limit.rlim_max
        return Int(clamping: unsafe setrlimit(resource, &newLimit) == 0 ? newLimit.rlim_cur : limit.rlim_cur)
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
