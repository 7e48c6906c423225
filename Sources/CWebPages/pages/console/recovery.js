// What could not be loaded because the server was unreachable is loaded again as soon as it answers.

const pause = 5_000;
/** What is shown in place of the content, and what loads it. */
const waiting = new Map();
let timer = null;

/** Calls `again` when the server answers, if the element is still shown then. */
export function whenReachable(element, again) {
    waiting.set(element, again);
    timer ??= setTimeout(look, pause);
}

async function look() {
    clearTimeout(timer);
    timer = null;
    for (const element of waiting.keys()) if (!element.isConnected) waiting.delete(element);
    if (!waiting.size) return;
    const isReachable = await fetch("/health/live", {method: "HEAD", cache: "no-store"}).then((answer) => answer.ok, () => false);
    if (!isReachable) {
        timer ??= setTimeout(look, pause);
        return;
    }
    const all = [...waiting];
    waiting.clear();
    for (const [element, again] of all) if (element.isConnected) again();
}

addEventListener("online", look);
