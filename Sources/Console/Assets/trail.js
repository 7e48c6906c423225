// The trail: filters, free search, endless pages, keyboard, export.
import {entries, lines} from "/console/api.js";
import {openDetail} from "/console/detail.js";
import {clock, day, failure, familyName, h, icon, kindBadge, nobody, number, person, shortTime, skeleton, time, toast} from "/console/dom.js";

const kinds = ["nag.created", "nag.completed", "nag.missed", "nag.withdrawn", "nag.updated", "nag.snoozed", "nag.dismissed", "excuse.submitted",
    "ai.select_tone", "ai.coaching", "ai.summarize_excuse", "ai.patterns", "ai.digest", "ai.predict_completion", "ai.push_back",
    "consent.granted", "consent.revoked", "preferences.changed", "member.added", "member.joined", "member.removed", "family.created",
    "session.opened", "session.refreshed", "session.revoked", "sign_in.failed", "account.created", "admin.read", "admin.created", "person.erased", "trail.pruned"];
const names = ["q", "family_id", "kind", "from", "to", "actor_id", "subject_id", "resource_id", "trace_id"];
const labels = {actor_id: "by", subject_id: "about", resource_id: "thing", trace_id: "trace", from: "from", to: "to", kind: "kind", family_id: "family", q: "search"};
const pageSize = 100;
const most = 3000;

const localValue = (text) => {
    if (!text) return "";
    const moment = new Date(text);
    return new Date(moment - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

export function trail(main, state, params) {
    const isAdmin = state.status.reader === "admin";
    const wanted = Object.fromEntries(names.map((name) => [name, params.get(name) || ""]));
    if (!isAdmin) wanted.family_id = state.status.family_id;
    const go = (changes) => {
        const next = new URLSearchParams(Object.entries({...wanted, ...changes}).filter(([name, value]) => value && (isAdmin || name !== "family_id")));
        location.hash = `#/trail?${next}`;
    };

    const search = h("input", {id: "q", type: "search", value: wanted.q, placeholder: "Search ids, people, traces, kinds", "aria-label": "Search", autocomplete: "off",
        onchange: (event) => go({q: event.target.value.trim()})});
    const pick = (name, text, options) => h("label", {}, h("span", {}, text), h("select", {name, onchange: (event) => go({[name]: event.target.value})},
        h("option", {value: ""}, "all"), options.map(([value, title]) => h("option", {value, selected: wanted[name] === value}, title))));
    const moment = (name, text) => h("label", {}, h("span", {}, text), h("input", {type: "datetime-local", name, value: localValue(wanted[name]),
        onchange: (event) => go({[name]: event.target.value ? new Date(event.target.value).toISOString() : ""})}));
    const shownKinds = wanted.kind && !kinds.includes(wanted.kind) ? [wanted.kind, ...kinds] : kinds;
    const chips = names.filter((name) => wanted[name] && !["q", "family_id", "kind", "from", "to"].includes(name)).map((name) =>
        h("button", {type: "button", class: "chip", "aria-label": `Remove filter ${labels[name]}`, onclick: () => go({[name]: ""})}, `${labels[name]} ${wanted[name].slice(-8)}`, icon("cross")));
    const clear = names.some((name) => wanted[name] && (isAdmin || name !== "family_id")) && h("button", {type: "button", class: "ghost small", onclick: () => { location.hash = "#/trail"; }}, "Clear all");

    const body = h("tbody", {});
    const table = h("table", {class: "trail", role: "grid", "aria-label": "Entries, newest first", "aria-rowcount": "-1"},
        h("thead", {}, h("tr", {}, ["Time", "What", "Who", "To whom", isAdmin ? "Family" : "Thing", "No."].map((title) => h("th", {scope: "col"}, title)))), body);
    const end = h("div", {class: "more", role: "status"}, skeleton(8));
    const drawer = h("aside", {class: "drawer", role: "dialog", "aria-label": "Entry", hidden: true});
    const older = h("button", {type: "button", class: "newest", hidden: true, onclick: () => { location.reload(); }}, icon("up"), "Back to the newest");
    const exporting = exportButton(wanted);
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Trail"), exporting),
        h("form", {class: "filters card", role: "search", onsubmit: (event) => { event.preventDefault(); go({q: search.value.trim()}); }},
            h("div", {class: "searchbox"}, icon("search"), search),
            isAdmin && pick("family_id", "Family", [[nobody, "Outside families"], ...state.families.filter((family) => family.family_id !== nobody).map((family) => [family.family_id, familyName(family.family_id)])]),
            pick("kind", "Kind", shownKinds.map((kind) => [kind, kind])), moment("from", "From"), moment("to", "To"), chips.length > 0 && h("div", {class: "chips"}, chips), clear),
        h("div", {class: "listbox"}, table, end), older, drawer);

    let [cursor, isLoading, isOver, isPaused, lastDay, selected] = ["", false, false, false, "", null];
    const rows = () => [...body.querySelectorAll("tr[data-n]")];
    const select = (row, focus = true) => {
        selected?.setAttribute("aria-selected", "false");
        if (selected) selected.tabIndex = -1;
        selected = row;
        row.setAttribute("aria-selected", "true");
        row.tabIndex = 0;
        if (focus) row.focus();
    };
    const show = (row) => {
        select(row, false);
        openDetail(drawer, state, row.dataset.family, Number(row.dataset.n), () => row.isConnected && row.focus());
    };

    function line(entry) {
        const row = h("tr", {"data-n": entry.n, "data-family": entry.family_id, "data-trace": entry.trace_id, tabindex: "-1", role: "row", "aria-selected": "false", onclick: () => show(row)},
            h("td", {class: "when"}, time(entry.at, clock)), h("td", {class: "what"}, kindBadge(entry.kind), summary(entry)), h("td", {class: "whofrom"}, person(entry.actor, entry.actor_id)),
            h("td", {class: "whoto"}, entry.subject && entry.subject !== entry.actor ? person(entry.subject, entry.subject_id) : h("span", {class: "muted"}, "–")),
            h("td", {class: "where"}, isAdmin ? familyName(entry.family_id) : entry.resource_id ? h("code", {}, entry.resource_id.slice(-8)) : h("span", {class: "muted"}, "–")),
            h("td", {class: "no"}, number(entry.n)));
        return row;
    }

    const lookedBack = h("p", {class: "muted"});
    end.append(lookedBack);
    const resume = () => {
        isPaused = false;
        lookedBack.textContent = "";
        end.replaceChildren(...skeleton(1), lookedBack);
        load();
    };

    async function load() {
        if (isLoading || isOver || isPaused) return;
        isLoading = true;
        try {
            const page = await entries({...wanted, cursor, limit: pageSize}, (moment) => { lookedBack.textContent = `Looking back: ${shortTime(moment)} …`; });
            if (!end.isConnected) return;
            const fresh = [];
            for (const entry of page.items) {
                const title = day(new Date(entry.at));
                if (title !== lastDay) fresh.push(h("tr", {class: "day"}, h("th", {colspan: "6", scope: "colgroup"}, title)));
                lastDay = title;
                fresh.push(line(entry));
            }
            body.append(...fresh);
            if (body.children.length > most) {
                [...body.children].slice(0, body.children.length - most + 1000).forEach((row) => row.remove());
                older.hidden = false;
            }
            cursor = page.next_cursor;
            isOver = !cursor;
            if (!selected && rows().length) {
                select(rows()[0], false);
                rows()[0].setAttribute("aria-selected", "false");
            }
            isPaused = page.searched_to && page.items.length < pageSize;
            end.replaceChildren(...isOver ? [h("p", {class: "muted"}, body.children.length ? "That is all of it." : "No entry matches.")]
                : isPaused ? [h("p", {class: "muted"}, `Looked back to ${shortTime(page.searched_to)}. There is more before that.`), h("button", {type: "button", class: "small", onclick: resume}, "Look further back")]
                    : [...skeleton(1), lookedBack]);
        } catch (error) {
            isOver = true;
            end.replaceChildren(failure(error, () => { isOver = false; load(); }));
        } finally {
            isLoading = false;
        }
        if (!isOver && !isPaused && end.getBoundingClientRect().top < innerHeight + 600) load();
    }

    const watcher = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) load(); }, {rootMargin: "600px"});
    watcher.observe(end);
    const keys = (event) => {
        if (event.target.closest("input, select, dialog, .drawer") || event.ctrlKey || event.metaKey) return;
        const all = rows();
        const place = all.indexOf(selected);
        if (["j", "ArrowDown"].includes(event.key) && all.length) {
            event.preventDefault();
            const isFresh = selected?.getAttribute("aria-selected") !== "true";
            select(all[isFresh ? Math.max(place, 0) : Math.min(place + 1, all.length - 1)]);
        } else if (["k", "ArrowUp"].includes(event.key) && all.length) {
            event.preventDefault();
            select(all[Math.max(place - 1, 0)]);
        } else if (event.key === "Enter" && selected && event.target.tagName !== "BUTTON" && event.target.tagName !== "A") {
            event.preventDefault();
            show(selected);
        } else if (event.key === "t" && selected) go({trace_id: selected.dataset.trace});
    };
    addEventListener("keydown", keys);
    if (params.get("open") && wanted.family_id) openDetail(drawer, state, wanted.family_id, Number(params.get("open")));
    load();
    return () => {
        watcher.disconnect();
        removeEventListener("keydown", keys);
    };
}

/** A few words of what an entry says. */
function summary(entry) {
    const details = entry.details || {};
    const words = details.reason || details.output || details.rule || details.consent_type || details.type || details.category || details.method || details.operation;
    return words ? h("span", {class: "words"}, words.replaceAll("_", " ")) : null;
}

function exportButton(wanted) {
    const progress = h("progress", {hidden: true, "aria-label": "Export"});
    const text = h("span", {}, "Export");
    const button = h("button", {type: "button", class: "button", id: "export", title: "The whole trail as a file that “nagz audit verify” reads", onclick: async () => {
        button.disabled = true;
        progress.hidden = false;
        try {
            const {parts, octets, count} = await lines("/audit/export", {family_id: wanted.family_id}, (octets, count) => {
                text.textContent = `${number(count)} lines, ${(octets / 1_048_576).toFixed(1)} MB`;
            });
            const url = URL.createObjectURL(new Blob(parts, {type: "application/x-ndjson"}));
            const link = h("a", {href: url, download: `nagz-trail-${wanted.family_id ? wanted.family_id.slice(-8) : "all"}.ndjson`});
            document.body.append(link);
            link.click();
            link.remove();
            setTimeout(() => URL.revokeObjectURL(url), 60_000);
            toast(`${number(count)} lines exported, ${(octets / 1_048_576).toFixed(1)} MB`, "good");
        } catch (error) {
            toast(`The export failed: ${error.message}`, "bad");
        } finally {
            button.disabled = false;
            progress.hidden = true;
            text.textContent = "Export";
        }
    }}, icon("download"), text, progress);
    return button;
}
