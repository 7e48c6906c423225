import CLinux

/// Memory settings for long-running processes.
public enum ProcessMemory {
    /// Returns blocks of 1 MB or more to the system when they are freed, and what lies free at the end of a heap beyond
    /// 4 MB. A heap belongs to a thread.
    ///
    /// Otherwise glibc would raise its thresholds after large responses, and the process would stay large after a burst.
    /// Less is reused: a feed page takes a megabyte in all, and getting that from the system each time took a third of the
    /// server's time.
    public static func returnLargeBlocks() { CLinuxReturnLargeBlocks() }
}
