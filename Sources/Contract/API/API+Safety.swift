import Domain

extension API {
    /// List the caller's blocks.
    public static let listBlocks = Endpoint<PageRequest, NoBody, Page<BlockResponse>>(
        Operation("listBlocks", .get, "/api/v1/blocks", tag: .safety))

    /// Block a user.
    public static let createBlock = Endpoint<NoParameters, BlockCreate, BlockResponse>(
        Operation("createBlock", .post, "/api/v1/blocks", tag: .safety, status: 201))

    /// Lift or restore a block.
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

/// Path parameter: one block.
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

/// Path parameter: one relationship. A user's ID stands for the caller's relationship with that user.
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
