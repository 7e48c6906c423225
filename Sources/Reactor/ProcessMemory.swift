import CLinux

/// Memory settings for long-running processes.
public enum ProcessMemory {
    /// Makes glibc return freed blocks of 1 MB or more to the system, and free memory beyond 4 MB at the end of a
    /// thread's heap.
    ///
    /// Otherwise glibc would raise its thresholds after large responses, and the process would stay large after a burst.
    /// Smaller blocks are reused: a feed page takes a megabyte in all, and getting that from the system each time took
    /// a third of the server's time.
    public static func enableReturnOfLargeBlocks() { CLinuxReturnLargeBlocks() }
}
