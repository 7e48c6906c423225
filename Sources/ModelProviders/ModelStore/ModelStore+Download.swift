import HTTPClient
import Reactor

extension ModelStore {
    /// The maximum number of bytes that one request asks for. The bytes are flushed to disk after each request.
    static let maxRangeBytes: Int64 = 64 << 20

    /// Downloads a model's file unless it is complete, and continues an interrupted download.
    ///
    /// The complete file gets its name after its checksum was verified and it was flushed to disk. If the process dies,
    /// the downloaded bytes are kept as `ID.part`. A failed request is not repeated automatically.
    /// - Parameters:
    ///   - poller: the poller of an event loop that does nothing else, because files are written on it.
    ///   - authoritiesPath: a file of certificates in PEM form that are trusted; nil for the system's.
    ///   - progress: called with the number of downloaded bytes.
    /// - Returns: the path of the file.
    public func download(
        _ model: ModelFile, on poller: Poller, authoritiesPath: String? = nil, progress: @escaping (Int64) -> Void
    ) async throws(ModelStoreError) -> String {
        if state(of: model) == .downloaded { return path(of: model) }
        try createFolder()
        let part = try ModelPart(partPath(of: model), model, progress)
        try requireDiskSpace(for: model, downloaded: part.byteCount)
        // A URL of this machine may lead only to this machine. Other URLs are not restricted, because the
        // person chose the catalogue.
        let networks = model.isOnLoopback ? NetworkGuard.loopback : .unrestricted
        let client = HTTPClient(poller, networks: networks, authoritiesPath: authoritiesPath)
        defer { client.close() }
        progress(part.byteCount)
        while part.byteCount < model.byteCount {
            let countBefore = part.byteCount
            do throws(ModelStoreError) { try await downloadNextRange(of: part, model, client) } catch {
                if error == .sizeDiffers { part.remove() }
                throw error
            }
            guard part.byteCount > countBefore || part.byteCount == model.byteCount else { throw .unreadable }
        }
        guard try part.sha256() == model.sha256 else {
            part.remove()
            throw .checksumDiffers
        }
        try part.rename(to: path(of: model), in: folder)
        return path(of: model)
    }

    /// Requests the bytes after those of the part, at most `maxRangeBytes`, and appends them.
    private func downloadNextRange(
        of part: ModelPart, _ model: ModelFile, _ client: HTTPClient
    ) async throws(ModelStoreError) {
        let end = min(part.byteCount + Self.maxRangeBytes, model.byteCount)
        var limits = HTTPClientRequest.Limits()
        // A server without ranges sends the whole file.
        limits.maxResponseBodyBytes = Int(model.byteCount)
        limits.totalTimeout = .seconds(24 * 3_600)
        limits.stallTimeout = .seconds(60)
        let request = HTTPClientRequest(
            "GET", model.url,
            headers: [("Range", "bytes=\(part.byteCount)-\(end - 1)"), ("Accept-Encoding", "identity")], limits: limits)
        part.expect(upTo: end)
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await client.send(request) { head, bytes in part.append(head, bytes) }
        } catch {
            if let fault = part.fault { throw fault }
            throw error == .tooLarge ? .sizeDiffers : .interrupted(reason: error.description)
        }
        try part.finish(response)
    }

    /// Checks that the disk has space for the remaining bytes, plus a twentieth of the file. Nothing is checked if the
    /// free space is unknown.
    private func requireDiskSpace(for model: ModelFile, downloaded count: Int64) throws(ModelStoreError) {
        let needed = model.byteCount + (model.byteCount + 19) / 20 - count
        guard let free = freeBytes(folder), free < needed else { return }
        throw .noDiskSpace(needed: needed, free: free)
    }
}
