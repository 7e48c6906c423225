import Foundation

/// The process's figures as the kernel reports them.
enum ProcessFigures {
    /// Returns the processor time, in user and kernel mode.
    static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Returns the size of the resident memory.
    static func residentBytes() -> Int {
        // The second of the numbers, in pages (proc_pid_statm(5)).
        let numbers = readStart("/proc/self/statm").split(separator: " ")
        return numbers.count > 1 ? (Int(numbers[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    /// Returns the number of open descriptors: the size of `/proc/self/fd`, which is 0 before Linux 6.2.
    static func openDescriptors() -> Int {
        var status = stat()
        return stat("/proc/self/fd", &status) == 0 ? Int(status.st_size) : 0
    }

    static func descriptorLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Returns the first 256 bytes of a file; nothing if it cannot be read.
    private static func readStart(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
