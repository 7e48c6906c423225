import Domain
import JSON
import NagzAI

// The wire format of the seven responses that NagzAI defines.

extension ExcuseSummaryResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            nagID: try fields.required("nag_id"),
            summary: try fields.required("summary"),
            category: try fields.required("category"),
            confidence: try fields.required("confidence"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("summary", summary)
        json.field("category", category)
        json.field("confidence", confidence)
    }
}

extension ToneSelectResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            nagID: try fields.required("nag_id"),
            tone: try fields.required("tone"),
            missCount7d: try fields.required("miss_count_7d"),
            streak: try fields.required("streak"),
            reason: try fields.required("reason"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("tone", tone)
        json.field("miss_count_7d", missCount7d)
        json.field("streak", streak)
        json.field("reason", reason)
    }
}

extension CoachingResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            nagID: try fields.required("nag_id"),
            tip: try fields.required("tip"),
            category: try fields.required("category"),
            scenario: try fields.required("scenario"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("tip", tip)
        json.field("category", category)
        json.field("scenario", scenario)
    }
}

extension PatternsResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            userID: try fields.required("user_id"),
            familyID: try fields.required("family_id"),
            insights: try fields.required("insights"),
            analyzedAt: try fields.required("analyzed_at"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("user_id", userID)
        json.field("family_id", familyID)
        json.field("insights", insights)
        json.field("analyzed_at", analyzedAt)
    }
}

extension InsightItem: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            dayOfWeek: try fields.required("day_of_week"),
            missCount: try fields.required("miss_count"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("day_of_week", dayOfWeek)
            json.field("miss_count", missCount)
        }
    }
}

extension DigestResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            familyID: try fields.required("family_id"),
            periodStart: try fields.required("period_start"),
            periodEnd: try fields.required("period_end"),
            summaryText: try fields.required("summary_text"),
            memberSummaries: try fields.required("member_summaries"),
            totals: try fields.required("totals"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("family_id", familyID)
        json.field("period_start", periodStart)
        json.field("period_end", periodEnd)
        json.field("summary_text", summaryText)
        json.field("member_summaries", memberSummaries)
        json.field("totals", totals)
    }
}

extension MemberSummary: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            userID: try fields.required("user_id"),
            displayName: try fields.optional("display_name"),
            totalNags: try fields.required("total_nags"),
            completed: try fields.required("completed"),
            missed: try fields.required("missed"),
            completionRate: try fields.required("completion_rate"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("display_name", displayName)
            json.field("total_nags", totalNags)
            json.field("completed", completed)
            json.field("missed", missed)
            json.field("completion_rate", completionRate)
        }
    }
}

extension DigestTotals: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            totalNags: try fields.required("total_nags"),
            completed: try fields.required("completed"),
            missed: try fields.required("missed"),
            open: try fields.required("open"),
            // An earlier server does not say it.
            overdue: try fields.optional("overdue") ?? 0,
            completionRate: try fields.required("completion_rate"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("total_nags", totalNags)
            json.field("completed", completed)
            json.field("missed", missed)
            json.field("open", open)
            json.field("overdue", overdue)
            json.field("completion_rate", completionRate)
        }
    }
}

extension PredictCompletionResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            nagID: try fields.required("nag_id"),
            likelihood: try fields.required("likelihood"),
            suggestedReminderTime: try fields.optional("suggested_reminder_time"),
            factors: try fields.required("factors"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("likelihood", likelihood)
        json.field("suggested_reminder_time", suggestedReminderTime)
        json.field("factors", factors)
    }
}

extension CompletionFactor: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            name: try fields.required("name"),
            value: try fields.required("value"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name)
            json.field("value", value)
        }
    }
}

extension PushBackResponse: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            nagID: try fields.required("nag_id"),
            shouldPushBack: try fields.required("should_push_back"),
            message: try fields.optional("message"),
            tone: try fields.optional("tone"),
            reason: try fields.required("reason"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("should_push_back", shouldPushBack)
        json.field("message", message)
        json.field("tone", tone)
        json.field("reason", reason)
    }
}
