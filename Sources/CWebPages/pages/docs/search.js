// Finds operations and sections of the guide by words: titles, names, paths, fields with their values, descriptions, and words that mean the same.

/** Words that readers use for a word of the API. */
const synonyms = new Map(Object.entries({
    add: ["create", "grant", "join", "register"], make: ["create"], new: ["create"], send: ["create", "resend", "submit"], store: ["set", "create"],
    remove: ["delete", "withdraw", "revoke", "leave"], kick: ["remove"], delete: ["remove", "withdraw"], cancel: ["withdraw", "revoke"], erase: ["delete"],
    change: ["update", "edit", "set"], edit: ["update"], modify: ["update"], rename: ["update"], set: ["update"],
    show: ["get", "list"], read: ["get", "list"], view: ["get"], see: ["get", "list"], fetch: ["get", "sync"], all: ["list"], find: ["list", "get"], search: ["list", "get"], download: ["get", "export"], upload: ["create"],
    complete: ["status"], hide: ["dismiss"], task: ["nag"], todo: ["nag"], chore: ["nag"], reminder: ["nag"],
    kid: ["child"], children: ["child"], parent: ["guardian"], user: ["member", "account"], person: ["member"], people: ["member"], profile: ["account"],
    login: ["signin"], signin: ["login"], logout: ["signout"], signout: ["logout"], auth: ["authentication"], token: ["refresh"], renew: ["refresh"],
    photo: ["picture"], image: ["picture"], file: ["attachment"], push: ["device"], phone: ["device"], friend: ["connection"], grandparent: ["connection"], relative: ["connection"], permission: ["consent"],
    score: ["points"], ranking: ["leaderboard"], settings: ["preferences"], notify: ["notification"], timezone: ["zone"], week: ["weekly"], summary: ["digest"],
    page: ["pagination"], paging: ["pagination"], retry: ["idempotency", "retried"], payload: ["message"], idempotent: ["idempotency"], throttle: ["rate"], websocket: ["realtime"], socket: ["realtime"], live: ["realtime", "liveness"],
    etag: ["concurrency"], deprecated: ["deprecation"], verify: ["prove"], health: ["liveness", "readiness"], chat: ["coach"], advice: ["coach"], tip: ["coach"], llm: ["model"],
}));
/** What readers call an operation or a section of the guide, where its own words do not say it. */
export const aliases = {
    // nags
    createNag: "recurring repeat series daily reminder assign task chore homework due date", listNags: "tasks todo search find filter category status overdue completed history",
    updateNag: "snooze postpone reschedule change due date deadline", updateNagStatus: "complete mark done finish note comment", importNags: "import calendar", uploadEvents: "offline outbox queue",
    // accounts
    signUp: "register create new account user", logIn: "login signin", logOut: "logout signout", endOtherSessions: "logout signout everywhere", endSession: "revoke session", listSessions: "active session",
    refreshSession: "access expired", requestPasswordReset: "forgot forgotten lost", requestEmailChange: "change email", confirmEmailChange: "verify email",
    requestPhone: "sms code number phone", confirmPhone: "verify sms", deletePhone: "remove phone",
    getMe: "current user profile who whoami myself", updateMe: "profile display name", exportAccount: "gdpr data download",
    // families
    listFamilies: "family id", joinFamily: "invite code", inviteConnection: "invite", acceptConnection: "accept invite", declineConnection: "decline invite", renewFamilyCode: "regenerate rotate",
    createMember: "add child kid member", listMembers: "family member children kids", addMember: "promote change role guardian",
    childLogIn: "username", setChildCredentials: "set reset pin", changePIN: "child pin", revokeConnection: "disconnect", updateConnectionType: "babysitter nanny",
    grantConsent: "parental", listConsents: "status", updateConsent: "withdraw", createIncentiveRule: "reward rule", listBadges: "achievement award",
    createBlock: "block user person", updateBlock: "unblock user person", createAbuseReport: "report abuse user person",
    // messages
    listDeliveries: "notifications delivery status", updatePreferences: "mute silence quiet hours disturb notification", createSocketTicket: "websocket",
    registerDevice: "notification android ios iphone fcm apns", deleteDevice: "unregister push",
    // figures, log, models and operations
    getEscalation: "escalate escalated", getFamilyMetrics: "statistics stats monthly report", listAuditEvents: "audit log entries", setAIKey: "openai anthropic key", listModelProviders: "models", checkLiveness: "ping", checkReadiness: "probe",
    // the guide
    quickstart: "getting started introduction tutorial base url", authentication: "locked lockout attempts bearer header", errors: "http conflict", pagination: "next cursor load more", sync: "delta",
    concurrency: "if match precondition 412 optimistic locking", "rate-limits-and-quotas": "429 retry after throttling", "versioning-and-deprecation": "breaking changes",
    realtime: "websocket subscribe events updates live", "push-messages-to-browsers": "web vapid service worker",
};
/** Words that say nothing about an operation. */
const silent = new Set(["a", "am", "an", "as", "the", "of", "to", "my", "how", "in", "for", "is", "do", "i", "with", "by", "and", "on", "or", "what", "which", "not", "too", "many"]);

/** The words of a text; “log in”, “sign-out”, “real time” and “two-factor” are one word each. */
const words = (text) => (text ?? "").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().replace(/\b(log|sign)(?:ged|ging|ed|ing)?[ -](in|out|up)s?\b/g, "$1$2").replace(/\b(real|two)[ -](time|factor)\b/g, "$1$2").match(/[\p{L}\p{N}]+/gu) ?? [];
/** The names in a text that have underscores, such as `due_at`, as they are. */
const names = (text) => (text ?? "").toLowerCase().match(/[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu) ?? [];
const stem = (word) => word.length > 3 ? word.replace(/(ies|s)$/, (end) => end === "ies" ? "y" : "") : word;
/** A method with a path, or a path, in the way in which queries and operations are compared: parameters have no name, and the version is left out. */
const address = (text) => text.trim().toLowerCase().replace(/\s+/g, " ").replace(/\?.*|\/$/, "").replace("/api/v1/", "/").replace(/\{[^}]*\}|[0-9a-f]{8}-[0-9a-f-]{27}/g, "{}");
const bag = (text) => new Set([...words(text).map(stem), ...names(text)]);

/** The weight of a word by where it is. */
const weights = {aliases: 12, title: 10, id: 6, path: 4, group: 3, fields: 2, below: 1.5, text: 1, response: 0.7};

/** An entry of the index. `fields` are names of parameters and of the request's members, `below` the names and values inside these, and
    `response` those of the response. */
export function entry(kind, key, {title, id = "", path = "", group = "", fields = [], below = [], response = [], text = ""}) {
    const parts = {aliases: aliases[key], title, id, path, group, fields: fields.join(" "), below: below.join(" "), text, response: response.join(" ")};
    return {kind, key, address: address(path), length: words(title).length, bags: Object.fromEntries(Object.entries(parts).map(([part, content]) => [part, bag(content)]))};
}

/** How well a word fits a part: as it is, or as a beginning. */
function fit(word, bag) {
    if (bag.has(word)) return 1;
    if (word.length > 2) for (const other of bag) if (other.startsWith(word)) return 0.6;
    return 0;
}

/** The weight of the best part that has the word; the other parts that have it count a little more. */
function score(word, bags) {
    const best = (one) => {
        const parts = Object.entries(weights).map(([part, weight]) => weight * fit(one, bags[part]));
        return 0.9 * Math.max(...parts) + 0.1 * parts.reduce((sum, part) => sum + part, 0);
    };
    // A name is there as it is, which tells more, or by each of its words.
    if (word.includes("_")) return Math.max(3 * best(word), Math.min(...telling(words(word)).map((one) => score(one, bags))));
    return Math.max(best(stem(word)), ...(synonyms.get(word) ?? synonyms.get(stem(word)) ?? []).map((other) => 0.8 * best(stem(other))));
}

/** The words that say something, or all if none does. */
function telling(some) {
    const found = some.filter((word) => !silent.has(word));
    return found.length ? found : some;
}

/** The entries that have every word of the query, best first, or else most of the words (`isPartial`); all of them, in their order, without a
    query. An operation whose path, or method and path, is the query is before the others. Those that have the words only in what weighs
    little beside the best one are `isWeak`. */
export function find(query, entries) {
    const rest = names(query).reduce((text, name) => text.toLowerCase().replace(name, " "), query);
    const wanted = [...names(query), ...telling(words(rest))];
    if (!wanted.length) return entries;
    const path = address(query);
    const scored = entries.map((one) => {
        const scores = wanted.map((word) => score(word, one.bags));
        const sum = scores.reduce((total, part) => total + part, 0);
        const isExact = path.includes("/") && (one.address === path || one.address.endsWith(` ${path}`));
        return {...one, isExact, count: isExact ? wanted.length : scores.filter(Boolean).length, sum, total: sum * (1 - 0.02 * one.length + (one.kind === "guide" ? 0.04 : 0))};
    });
    const most = Math.max(...scored.map(({count}) => count));
    if (most <= wanted.length / 2) return [];
    const found = scored.filter(({count}) => count === most).sort((a, b) => b.isExact - a.isExact || b.total - a.total);
    return found.map((one) => ({...one, isPartial: most < wanted.length, isWeak: one.sum < found[0].sum / 3}));
}
