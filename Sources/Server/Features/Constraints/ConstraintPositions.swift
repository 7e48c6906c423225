import Contract
import Domain
import NagzAI
import Postgres

/// The priorities of a family's constraints and of one person's own, and the numbers of texts that they search for.
struct ConstraintPositions {
    private var orders: [ConstraintScope: ConstraintOrder]
    private var textCounts: [ConstraintScope: [ConstraintID: Int]] = [:]

    /// Reads the positions. The read MUST be part of the basis of the act that changes them, so that no concurrent act
    /// changes them.
    init(of member: Member, _ queries: any Queries) async throws {
        let rows = try await queries.query(
            ConstraintStatements.positions(visibleTo: member.userID, in: member.familyID))
        var ids: [ConstraintScope: [Int: ConstraintID]] = [:]
        for row in rows {
            let (isOwn, priority): (Bool, Int) = (try row["is_own"], try row["priority"])
            let (scope, id): (ConstraintScope, ConstraintID) = (isOwn ? .own : .family, try row["id"])
            ids[scope, default: [:]][priority] = id
            textCounts[scope, default: [:]][id] = try row["texts"]
        }
        orders = ids.mapValues(ConstraintOrder.init)
    }

    subscript(scope: ConstraintScope) -> ConstraintOrder {
        get { orders[scope] ?? ConstraintOrder([:]) }
        set { orders[scope] = newValue }
    }

    /// Returns the scope of a constraint; nil for one that the person does not see.
    func scope(of id: ConstraintID) -> ConstraintScope? {
        orders.first { $0.value.idsByPriority.values.contains(id) }?.key
    }

    /// Returns the present priority of a constraint; if it has no position, the priority that it names.
    func priority(of constraint: ConstraintResponse) -> Int {
        self[constraint.terms.scope].idsByPriority.first { $0.value == constraint.id }?.key ?? constraint.terms.priority
    }

    /// Inserts or moves a constraint.
    /// - Parameter path: the constraint's path in the request, with a dot at its end; the field of an error begins with
    ///   it.
    /// - Throws: 422 for `priority` where no priority is free, and for `conditions` where the scope's constraints
    ///   search for too many texts.
    mutating func insert(_ constraint: ConstraintResponse, path: String = "") throws(APIError) {
        let scope = constraint.terms.scope
        textCounts[scope, default: [:]][constraint.id] = constraint.terms.textCount
        guard textCounts[scope, default: [:]].values.reduce(0, +) <= ConstraintLimit.maxSearchTextsPerScope else {
            throw APIError.constraintsHaveTooManyTexts(path: path)
        }
        do {
            try self[scope].insert(constraint.id, at: constraint.terms.priority)
        } catch {
            throw APIError.constraintIsInvalid(error, path: path)
        }
    }

    mutating func remove(_ constraint: ConstraintResponse) {
        self[constraint.terms.scope].remove(constraint.id)
        textCounts[constraint.terms.scope]?[constraint.id] = nil
    }

    /// Returns the constraints whose priority differs from that in `earlier`, with their present priorities.
    func moves(since earlier: ConstraintPositions) -> [ConstraintMove] {
        ConstraintScope.allCases.flatMap { scope in
            self[scope].movedConstraints(since: earlier[scope]).map { ConstraintMove(id: $0.id, priority: $0.priority) }
        }
    }
}

extension [ConstraintMove] {
    /// The text for the audit log: IDs and priorities.
    var auditText: String { map { "\($0.id) \($0.priority)" }.joined(separator: ",") }
}

extension ConstraintTerms {
    /// The number of texts that the conditions search for in a question's content.
    fileprivate var textCount: Int {
        conditions.reduce(0) { $0 + ($1.field == .content ? $1.alternatives.count : 0) }
    }
}
