import CLinux

/// How this process deals with memory, for those that run for long.
public enum ProcessMemory {
    /// From now on memory for 128 KB or more at a time goes back to the system when it is freed.
    ///
    /// A large answer lives shortly. glibc would learn from it to keep such memory for the next one, and after a burst
    /// of them the process would stay large for ever.
    public static func returnLargeBlocks() { CLinuxReturnLargeBlocks() }
}
