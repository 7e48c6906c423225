import CLinux

/// How this process deals with memory, for those that run for long.
public enum ProcessMemory {
    /// From now on memory for 1 MB or more at a time goes back to the system when it is freed.
    ///
    /// A large answer is short-lived. glibc would raise its threshold and keep such memory for the next one, and after
    /// a burst of them the process would stay large. A page of the feed, a third of that, is written into memory that
    /// was used before: to get it anew from the system each time took a tenth of the server's time.
    public static func returnLargeBlocks() { CLinuxReturnLargeBlocks() }
}
