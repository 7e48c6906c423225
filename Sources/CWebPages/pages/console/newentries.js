// Counts the entries added since a list was loaded, without loading them.
import {get} from "/console/api.js";
import {onPoll} from "/console/poll.js";

const most = 100;

/** Requests in each round what is newer than the newest listed entry, and reports it, until the returned function is called. */
export function watchNewEntries(query, newest, tell) {
    return onPoll(async (signal) => {
        const last = newest();
        const from = last && (!query.from || last.at > query.from) ? last.at : query.from;
        const page = await get("/audit/events", {...query, from, cursor: undefined, limit: most}, signal);
        const count = page.items.filter((entry) => !last || entry.at > last.at || entry.family_id === last.family_id && entry.n > last.n).length;
        tell(count, `${count}${count === most ? " or more" : ""} new`);
    });
}
