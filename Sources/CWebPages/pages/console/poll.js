// The only polling loop. Rounds never overlap, and none runs while the page is hidden.

const pause = 10_000;
const tasks = new Set();
let timer = null;
let current = null;
let [isRunning, isWanted] = [false, false];

/** Runs the task, with an AbortSignal, in each round until the returned function is called. */
export function onPoll(task) {
    tasks.add(task);
    return () => tasks.delete(task);
}

export function startPolling() {
    stopPolling();
    current = new AbortController();
    round(current.signal);
}

export function stopPolling() {
    clearTimeout(timer);
    current?.abort();
    current = null;
    isRunning = isWanted = false;
}

/** Begins the next round after that many milliseconds, or when a running round has ended. */
export function pollSoon(delay = 0) {
    isWanted = isRunning;
    if (!current || isRunning) return;
    clearTimeout(timer);
    const {signal} = current;
    timer = setTimeout(() => round(signal), delay);
}

async function round(signal) {
    if (!document.hidden) {
        isRunning = true;
        await Promise.allSettled([...tasks].map((task) => task(AbortSignal.any([signal, AbortSignal.timeout(8_000)]))));
    }
    if (signal.aborted) return;
    timer = setTimeout(() => round(signal), isWanted ? 0 : pause);
    isRunning = isWanted = false;
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) pollSoon(); });
