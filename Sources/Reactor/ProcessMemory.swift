import CLinux

/// Memory settings for long-running processes.
public enum ProcessMemory {
    /// Returns blocks of 1 MB or more to the system when they are freed.
    ///
    /// Otherwise glibc would raise its threshold after large responses, and the process would stay large after a burst.
    /// Smaller blocks, such as a feed page of a third of that, are reused: getting them from the system each time took
    /// a tenth of the server's time.
    public static func returnLargeBlocks() { CLinuxReturnLargeBlocks() }
}
