import Domain
import JSON

/// Blocks a user: neither can send the other nags.
public struct BlockCreate: Hashable, WireObject {
    public var targetID: UserID

    public init(targetID: UserID) {
        self.targetID = targetID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        targetID = try fields.required("target_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("target_id", targetID)
        }
    }
}

/// Lifts or restores a block.
public struct BlockUpdate: Hashable, WireObject {
    public var state: BlockState

    public init(state: BlockState) {
        self.state = state
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        state = try fields.required("state")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("state", state)
        }
    }
}

/// A block between two users.
public struct BlockResponse: Hashable, WireObject {
    public var id: BlockID
    public var actorID: UserID
    public var targetID: UserID
    public var state: BlockState

    public init(id: BlockID, actorID: UserID, targetID: UserID, state: BlockState) {
        self.id = id
        self.actorID = actorID
        self.targetID = targetID
        self.state = state
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        actorID = try fields.required("actor_id")
        targetID = try fields.required("target_id")
        state = try fields.required("state")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("actor_id", actorID)
            json.field("target_id", targetID)
            json.field("state", state)
        }
    }
}

/// The relationship between two members, which nags between them require.
public struct RelationshipResponse: Hashable, WireObject {
    public var id: RelationshipID
    public var partyA: UserID
    public var partyB: UserID
    public var status: RelationshipStatus

    public init(id: RelationshipID, partyA: UserID, partyB: UserID, status: RelationshipStatus) {
        self.id = id
        self.partyA = partyA
        self.partyB = partyB
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        partyA = try fields.required("party_a")
        partyB = try fields.required("party_b")
        status = try fields.required("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("party_a", partyA)
            json.field("party_b", partyB)
            json.field("status", status)
        }
    }
}
