import Glibc

/// How many descriptors this process may have open.
public enum DescriptorLimit {
    /// Raises the soft limit, which is low for the sake of programs that use select, to the hard one.
    /// - Returns: the limit from now on.
    public static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1_024 }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        return Int(clamping: unsafe setrlimit(resource, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
    }
}
