// Answers may arrive in another order than their requests. At each place of the page only the newest request counts.

/** One place of the page. `run` aborts the request that was running there, and drops every outcome but the newest. */
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
