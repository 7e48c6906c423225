// Responses may arrive in another order than their requests. For each part of the page only the newest request counts.

/** The requests of one part of the page. `run` aborts the previous request and ignores all results except the newest. */
export function latest() {
    let controller = new AbortController();
    const begin = () => {
        controller.abort();
        controller = new AbortController();
        return controller.signal;
    };
    return {
        /** `work` gets an AbortSignal; then `show` gets its value, or `fail` its error. */
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
