import Domain

extension API {
    /// List the caller's blocks.
    public static let listBlocks = Endpoint<PageRequest, NoBody, Page<BlockResponse>>(
        Operation("listBlocks", .get, "/api/v1/blocks", tag: .safety))

    /// Block somebody.
    public static let createBlock = Endpoint<NoParameters, BlockCreate, BlockResponse>(
        Operation("createBlock", .post, "/api/v1/blocks", tag: .safety, status: 201))

    /// Lift a block or put it back.
    public static let updateBlock = Endpoint<BlockPath, BlockUpdate, BlockResponse>(
        Operation("updateBlock", .patch, "/api/v1/blocks/{block_id}", tag: .safety))

    /// Suspend a relationship.
    public static let suspendRelationship = Endpoint<RelationshipPath, NoBody, RelationshipResponse>(
        Operation("suspendRelationship", .post, "/api/v1/relationships/{relationship_id}/suspend", tag: .safety))

    static let safetyOperations: [Operation] = [
        listBlocks.operation, createBlock.operation, updateBlock.operation, suspendRelationship.operation,
    ]
}

// MARK: Parameters

/// The block in a path.
public struct BlockPath: WireParameters, Hashable {
    public var blockID: BlockID

    public init(blockID: BlockID) {
        self.blockID = blockID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        blockID = try parameters.path("block_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("block_id", blockID)
    }
}

/// The relationship in a path; a user's id may stand there for the caller's relationship to that user.
public struct RelationshipPath: WireParameters, Hashable {
    public var relationshipID: RelationshipID

    public init(relationshipID: RelationshipID) {
        self.relationshipID = relationshipID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        relationshipID = try parameters.path("relationship_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("relationship_id", relationshipID)
    }
}
