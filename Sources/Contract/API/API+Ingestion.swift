import Domain

extension API {
    /// Import a list of proposed nags.
    public static let importNags = Endpoint<NoParameters, NagImport, ImportResult>(
        Operation("importNags", .post, "/api/v1/ingestion/imports", tag: .ingestion))

    /// Get an import and its drafts.
    public static let getImport = Endpoint<ImportPath, NoBody, ImportResponse>(
        Operation("getImport", .get, "/api/v1/ingestion/imports/{import_id}", tag: .ingestion))

    /// Approve drafts of an import together.
    public static let approveImport = Endpoint<ImportPath, ImportApproval, ImportResponse>(
        Operation("approveImport", .post, "/api/v1/ingestion/imports/{import_id}/approve", tag: .ingestion))

    /// Get the second key of approved drafts of an import.
    public static let confirmImport = Endpoint<ImportPath, ImportSelection, DraftConfirmation>(
        Operation("confirmImport", .post, "/api/v1/ingestion/imports/{import_id}/confirm", tag: .ingestion))

    /// Do what drafts of an import say.
    public static let executeImport = Endpoint<ImportPath, ImportExecution, ImportResponse>(
        Operation("executeImport", .post, "/api/v1/ingestion/imports/{import_id}/execute", tag: .ingestion))

    static let ingestionOperations: [Operation] = [
        importNags.operation, getImport.operation, approveImport.operation, confirmImport.operation,
        executeImport.operation,
    ]
}

// MARK: Parameters

/// The import in a path.
public struct ImportPath: WireParameters, Hashable {
    public var importID: ImportID

    public init(importID: ImportID) {
        self.importID = importID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        importID = try parameters.path("import_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("import_id", importID)
    }
}
