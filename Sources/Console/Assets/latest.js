// Answers may come in another order than they were asked for. At each place of the page only the newest question counts.

/** One place of the page: `run` ends what was running there, and shows an outcome only while nothing newer has begun. */
export function latest() {
    let controller = new AbortController();
    const begin = () => {
        controller.abort();
        controller = new AbortController();
        return controller.signal;
    };
    return {
        /** `work` gets the signal that ends it; then `show` gets its value, or `fail` its error. */
        async run(work, show, fail) {
            const signal = begin();
            try {
                const value = await work(signal);
                if (!signal.aborted) show(value);
            } catch (error) {
                if (!signal.aborted) fail(error);
            }
        },
        stop: begin,
    };
}
