// Finds operations and sections of the guide by words: titles, names, paths, fields and descriptions, and words that mean the same.

/** Words that readers use for a word of the API. */
const synonyms = new Map(Object.entries({
    add: ["create", "grant", "join", "register"], make: ["create"], new: ["create"], send: ["create", "resend", "submit"], store: ["set", "create"],
    remove: ["delete", "withdraw", "revoke", "leave"], kick: ["remove"], delete: ["remove", "withdraw"], cancel: ["withdraw", "revoke"], erase: ["delete"],
    change: ["update", "edit", "set"], edit: ["update"], modify: ["update"], rename: ["update"], set: ["update"],
    show: ["get", "list"], read: ["get", "list"], view: ["get"], see: ["get", "list"], fetch: ["get", "sync"], all: ["list"], find: ["list", "get"], search: ["list", "get"], download: ["get", "export"], upload: ["create"],
    complete: ["status"], hide: ["dismiss"], task: ["nag"], todo: ["nag"], chore: ["nag"], reminder: ["nag"],
    kid: ["child"], children: ["child"], parent: ["guardian"], user: ["member", "account"], person: ["member"], people: ["member"], profile: ["account"],
    login: ["signin"], signin: ["login"], logout: ["signout"], signout: ["logout"], auth: ["authentication"], token: ["refresh"], renew: ["refresh"],
    photo: ["picture"], image: ["picture"], file: ["attachment"], push: ["device"], email: ["invite"], phone: ["device"], friend: ["connection"], grandparent: ["connection"], relative: ["connection"], permission: ["consent"],
    score: ["points"], ranking: ["leaderboard"], settings: ["preferences"], notification: ["preferences"], notify: ["notification"], timezone: ["zone"], week: ["weekly"], summary: ["digest"],
    page: ["pagination"], paging: ["pagination"], retry: ["idempotency", "retried"], payload: ["message"], idempotent: ["idempotency"], throttle: ["rate"], websocket: ["realtime"], socket: ["realtime"], live: ["realtime", "liveness"],
    etag: ["concurrency"], deprecated: ["deprecation"], verify: ["prove"], health: ["liveness", "readiness"], chat: ["coach"], advice: ["coach"], tip: ["coach"], llm: ["model"],
}));
/** What readers call an operation or a section of the guide, where its own words do not say it. */
const aliases = {
    createMember: "add child kid member", logIn: "login signin", logOut: "logout signout", endOtherSessions: "logout signout everywhere", exportAccount: "gdpr data download", createBlock: "block user person",
    listDeliveries: "notifications", importNags: "import calendar", listAuditEvents: "audit log entries", setAIKey: "openai anthropic key", createIncentiveRule: "reward rule",
    updateNagStatus: "complete mark done finish", updateNag: "snooze postpone", createNag: "recurring repeat series", listNags: "tasks todo", uploadEvents: "offline outbox queue",
    updatePreferences: "mute silence quiet hours disturb notification", registerDevice: "notification android ios iphone fcm apns", requestPasswordReset: "forgot forgotten lost",
    authentication: "locked lockout attempts", createAbuseReport: "report abuse", changePIN: "child pin", requestEmailChange: "change email",
};
/** Words that say nothing about an operation. */
const silent = new Set(["a", "an", "the", "of", "to", "my", "how", "in", "for", "is", "do", "i", "with", "by", "and", "on", "or", "what", "which", "not", "too", "many"]);

/** The words of a text; “log in” and “sign-out” are one word each. */
const words = (text) => (text ?? "").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().replace(/\b(log|sign)(?:ged|ging|ed|ing)?[ -](in|out|up)s?\b/g, "$1$2").match(/[\p{L}\p{N}]+/gu) ?? [];
const stem = (word) => word.length > 3 ? word.replace(/(ies|s)$/, (end) => end === "ies" ? "y" : "") : word;
const bag = (text) => new Set(words(text).map(stem));

/** The weight of a word by where it is. */
const weights = {aliases: 12, title: 10, id: 6, path: 4, group: 3, fields: 2, text: 1};

/** An entry of the index. `fields` are names of parameters and members. */
export function entry(kind, key, {title, id = "", path = "", group = "", fields = [], text = ""}) {
    return {kind, key, length: words(title).length, bags: {aliases: bag(aliases[key]), title: bag(title), id: bag(id), path: bag(path), group: bag(group), fields: bag(fields.join(" ")), text: bag(text)}};
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
    return Math.max(best(stem(word)), ...(synonyms.get(word) ?? synonyms.get(stem(word)) ?? []).map((other) => 0.8 * best(stem(other))));
}

/** The entries that have every word of the query, best first; all of them, in their order, without a query. */
export function find(query, entries) {
    const wanted = words(query);
    const telling = wanted.filter((word) => !silent.has(word));
    const asked = telling.length ? telling : wanted;
    if (!asked.length) return entries;
    return entries.map((one) => {
        const scores = asked.map((word) => score(word, one.bags));
        const sum = scores.reduce((total, part) => total + part, 0);
        return {one, total: scores.includes(0) ? 0 : sum - one.length * 0.3 + (one.kind === "guide" ? 0.5 : 0)};
    }).filter(({total}) => total > 0).sort((a, b) => b.total - a.total).map(({one}) => one);
}
