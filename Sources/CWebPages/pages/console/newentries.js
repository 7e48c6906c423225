// Counts the entries added since a list was loaded, without loading them.
import {get} from "/console/api.js";
import {onPoll, pollSoon} from "/console/poll.js";
import {head, onTrust} from "/console/trust.js";

const most = 100;

/**
 * Reports new entries in each round until the returned function is called.
 *
 * A guardian's page requests the entries after the newest listed one. Each such request of an administrator would be an audit
 * entry itself, so an administrator's page compares the size of the log (of all families) and subtracts its own requests.
 */
export function watchNewEntries(isAdmin, query, newest, tell) {
    return isAdmin ? watchLog(tell) : watchList(query, newest, tell);
}

function watchList(query, newest, tell) {
    return onPoll(async (signal) => {
        const last = newest();
        const from = last && (!query.from || last.at > query.from) ? last.at : query.from;
        const page = await get("/audit/events", {...query, from, cursor: undefined, limit: most}, signal);
        const count = page.items.filter((entry) => !last || entry.n > last.n).length;
        tell(count, `${count}${count === most ? " or more" : ""} new`);
    });
}

/** Compares sizes of the log. A size is used only if this page made no request shortly before: its own requests are audit entries
    that may not be in the log yet. */
function watchLog(tell) {
    const settling = 1_200;
    let before = null;
    const stop = onTrust(() => {
        const newest = head();
        if (!newest?.askedAt || newest.askedAt - newest.reads.at < settling) return;
        const others = newest.size - newest.reads.count;
        before ??= others;
        const count = Math.max(0, others - before);
        tell(count, `${count} new in the log`);
    });
    pollSoon(settling + 300);
    return stop;
}
