import Glibc

/// The limit on open descriptors of this process.
public enum DescriptorLimit {
    /// Raises the soft limit (low by default for programs that use select) to the hard limit.
    /// - Returns: the new limit.
    public static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1_024 }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        return Int(clamping: unsafe setrlimit(resource, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
    }
}
