import Contract
import Device
import Domain
import Foundation
import JSON
import NagzAI

extension WireOutput {
    /// The value as JSON, for use in another document.
    var jsonValue: JSONValue { (try? JSONValue(parsing: jsonBytes.span)) ?? .null }
}

extension Timestamp {
    /// The date and time in this machine's time zone: `Tue 2026-03-10 18:00`.
    var displayText: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE yyyy-MM-dd HH:mm"
        return formatter.string(from: Date(timeIntervalSince1970: Double(microseconds) / 1_000_000))
    }

    /// The time without the date.
    var displayTime: String { String(displayText.suffix(5)) }
}

extension Timestamp.Span {
    /// The span without its sign, rounded down: `12 s`, `5 min`, `3 h`, `2 days`.
    var displayText: String {
        let seconds = abs(microseconds / 1_000_000)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

extension Identifier {
    /// The last eight digits of an ID, by which people refer to it.
    var ending: String { String(description.suffix(8)) }
}

extension AnswerReason {
    /// The reason as the end of a sentence.
    var displayText: String {
        switch self {
        case .fresh: "its copy is fresh"
        case .stale: "this device's copy is older than a day"
        case .neverSynced: "this device has no copy yet"
        case .nagUnknown: "this device does not know the nag"
        case .historyMissing: "this device lacks the other person's history"
        case .wholeFamily: "it is about the whole family"
        case .mustBeRecorded: "only the server records push-backs"
        case .switchedOff: "answers on the device are switched off"
        case .serverUnreachable: "the server could not be reached"
        case .local: "only this device may answer"
        case .cloud: "the server was to be asked"
        case .tooLong: "the question is too long for this device"
        case .constraint: "a constraint says so"
        }
    }
}

extension ProviderName {
    /// The name of the engine, for people.
    var displayText: String {
        switch self {
        case .heuristic: "the rules"
        case .foundationModels: "the system's model"
        case .localGateway: "this device's model"
        case .serverGateway: "the server's model"
        case .ownProvider: "your own provider"
        }
    }
}

extension ExecutionReport {
    /// The engine that answered, for people; the provider's name if this program does not know it.
    var engineText: String { ProviderName(rawValue: provider)?.displayText ?? provider }

    /// The author of the answer: `by this device's model (small)`, `by the rules in place of this device's model
    /// (small): error`.
    var displayText: String { "by \(engineText)\(model.map { " (\($0))" } ?? "")\(fallbackText)" }

    /// The reason why the rules answered, for people; empty if the rules were requested, or did not answer.
    private var fallbackText: String {
        guard usedFallback else { return "" }
        if let asked { return " in place of \(asked.provider.displayText) (\(asked.name)): \(fallbackReason)" }
        if fallbackReason == FallbackReason.taskNotCovered.text {
            return "; the model on this device is a small one, which does not word answers of this kind"
        }
        return taskType == .heuristic ? "" : "; no model was asked: \(fallbackReason)"
    }
}

extension AnswerRecord {
    /// The record for people: `answered by this device in 0.4 ms: its copy is fresh`.
    var displayText: String {
        let milliseconds = Double(elapsedMicroseconds) / 1_000
        let time = milliseconds < 10 ? String(format: "%.1f ms", milliseconds) : "\(Int(milliseconds)) ms"
        let age = dataAge.map { "; its data is \($0.displayText) old" } ?? ""
        return "answered by \(place == .device ? "this device" : "the server") in \(time): \(reason.displayText)\(age)"
    }
}
