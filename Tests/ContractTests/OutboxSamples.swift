import Contract
import Domain
import JSON
import NagzAI

extension Sample {
    private static let capture = Capture(.dictation, confidence: 0.5, context: .capture)

    /// An outbox with each kind of input, and two of its results.
    static let upload = Sample(
        API.uploadEvents, NoParameters(),
        OutboxUpload(
            familyID: id(2),
            items: [
                OutboxItem(
                    clientID: id(22), nagID: id(3), act: .status(.completed, note: "n"), madeAt: moment,
                    capture: capture),
                OutboxItem(
                    clientID: id(23), nagID: id(3), act: .excuse(text: "t", category: .forgot), madeAt: moment,
                    capture: capture),
                OutboxItem(clientID: id(24), nagID: id(3), act: .note(text: "t"), madeAt: moment, capture: capture),
                OutboxItem(
                    clientID: id(25), nagID: id(3), act: .classification(of: id(24), category: .other),
                    madeAt: moment, capture: capture),
                OutboxItem(
                    clientID: id(27), nagID: id(3), act: .summary(of: id(24), text: "s"), madeAt: moment,
                    capture: capture),
                OutboxItem(
                    clientID: id(28), nagID: id(3), act: .relation(of: id(24), to: id(14)), madeAt: moment,
                    capture: capture),
                OutboxItem(
                    clientID: id(29), nagID: id(3), act: .merge(of: id(24), into: id(14)), madeAt: moment,
                    capture: capture),
                OutboxItem(
                    clientID: id(26), nagID: nil,
                    act: .nag(
                        NagCreate(
                            recipientID: id(4), dueAt: moment, category: .chores, doneDefinition: .binaryCheck,
                            description: "d", policyID: id(8), recurrence: .daily, attachmentIDs: [id(28)])),
                    madeAt: moment, capture: capture),
            ]),
        OutboxAnswer(results: [
            InputResult(clientID: id(22), outcome: .applied, eventID: id(14), error: nil),
            InputResult(
                clientID: id(23), outcome: .conflict, eventID: nil,
                error: InputRefusal(code: .conflict, message: "m", reason: "not_yet", opensAt: moment)),
        ]))
}
