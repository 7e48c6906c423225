import Contract
import Domain
import NagzAI
import Postgres

/// The priorities of a family's constraints and of one person's own.
struct ConstraintPlaces {
    private var orders: [ConstraintScope: ConstraintOrder]

    /// MUST be read on the basis of the act that changes them, so that nobody else changes them meanwhile.
    init(of member: Member, _ queries: any Queries) async throws {
        let rows = try await queries.query(ConstraintStatements.places(of: member.userID, in: member.familyID))
        var ids: [ConstraintScope: [Int: ConstraintID]] = [:]
        for index in 0..<rows.count {
            let row = rows[index]
            let (isOwn, priority): (Bool, Int) = (try row["is_own"], try row["priority"])
            ids[isOwn ? .own : .family, default: [:]][priority] = try row["id"]
        }
        orders = ids.mapValues(ConstraintOrder.init)
    }

    subscript(scope: ConstraintScope) -> ConstraintOrder {
        get { orders[scope] ?? ConstraintOrder([:]) }
        set { orders[scope] = newValue }
    }

    /// Nil for a constraint that the person does not see.
    func scope(of id: ConstraintID) -> ConstraintScope? {
        orders.first { $0.value.ids.values.contains(id) }?.key
    }

    func priority(of constraint: ConstraintResponse) -> Int {
        self[constraint.terms.scope].ids.first { $0.value == constraint.id }?.key ?? constraint.terms.priority
    }

    /// - Throws: 422 naming `priority` where there is no room, after the path of the constraint.
    mutating func insert(_ constraint: ConstraintResponse, path: String = "") throws(APIError) {
        do {
            try self[constraint.terms.scope].insert(constraint.id, at: constraint.terms.priority)
        } catch {
            let field = path + error.field
            throw APIError(.validationFailed, "\(field) \(error.message).", field: field)
        }
    }

    mutating func remove(_ constraint: ConstraintResponse) { self[constraint.terms.scope].remove(constraint.id) }

    /// The earlier constraints that have another priority now.
    func moved(since earlier: ConstraintPlaces) -> [ConstraintMove] {
        ConstraintScope.allCases.flatMap { scope in
            self[scope].moved(since: earlier[scope]).map { ConstraintMove(id: $0.id, priority: $0.priority) }
        }
    }
}

extension [ConstraintMove] {
    /// For the audit log: ids and priorities.
    var auditText: String { map { "\($0.id) \($0.priority)" }.joined(separator: ",") }
}
