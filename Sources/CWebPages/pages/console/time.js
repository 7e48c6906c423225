// Times: the displayed zone, formatting, and conversion of local dates and times to timestamps.
import {h} from "/console/dom.js";
import {language, locale} from "/console/language.js";

// MARK: the zone

const zones = {local: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC", utc: "UTC"};
let zone = localStorage.getItem("nagz.zone") === "utc" ? "utc" : "local";
export const zoneName = () => zones[zone];
export const isUTC = () => zone === "utc";
export const zoneTitle = () => (isUTC() ? "UTC" : zoneName().split("/").pop().replaceAll("_", " "));
export function toggleZone() {
    zone = zone === "utc" ? "local" : "utc";
    localStorage.setItem("nagz.zone", zone);
}

// MARK: formatting

const format = (options) => (moment) => new Intl.DateTimeFormat(locale, {timeZone: zoneName(), ...options}).format(moment);
export const day = format({weekday: "short", day: "numeric", month: "short", year: "numeric"});
export const clock = format({hour: "2-digit", minute: "2-digit", second: "2-digit"});
export const minute = format({hour: "2-digit", minute: "2-digit"});
export const dayAndMonth = format({day: "numeric", month: "short"});
export const monthAndYear = format({month: "short", year: "numeric"});
const full = format({dateStyle: "medium", timeStyle: "medium"});
const zoned = format({hour: "numeric", timeZoneName: "short"});
const short = format({day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});
export const shortTime = (text) => short(new Date(text));

/** A <time> element with the displayed zone. */
export function time(text, show = full) {
    const moment = new Date(text);
    if (Number.isNaN(moment.getTime())) return h("span", {}, String(text));
    return h("time", {datetime: text, title: `${full(moment)} ${zoned(moment).split(" ").pop()} · ${text}`}, show(moment));
}

const measure = (seconds) => (seconds < 60 ? [seconds, "second"] : seconds < 3600 ? [seconds / 60, "minute"]
    : seconds < 86400 ? [seconds / 3600, "hour"] : [seconds / 86400, "day"]);

export function ago(text) {
    const [count, unit] = measure(Math.max(0, (Date.now() - new Date(text)) / 1000));
    return new Intl.RelativeTimeFormat(language, {numeric: "auto"}).format(-Math.round(count), unit);
}

/** A length of time: hours up to three days, because that is how review targets are stated. */
export function span(milliseconds) {
    const seconds = milliseconds / 1000;
    const [count, unit] = seconds >= 86400 && seconds <= 3 * 86400 ? [seconds / 3600, "hour"] : measure(seconds);
    return new Intl.NumberFormat(language, {style: "unit", unit, unitDisplay: "long", maximumFractionDigits: unit === "day" ? 1 : 0}).format(count);
}

// MARK: dates and times in the zone

const two = (value) => String(value).padStart(2, "0");
const make = (year, month, day, hour = 0, minute = 0) =>
    (isUTC() ? new Date(Date.UTC(year, month - 1, day, hour, minute)) : new Date(year, month - 1, day, hour, minute));

/** Year, month, day, hour and minute of a timestamp in the zone. */
function parts(moment) {
    return isUTC() ? [moment.getUTCFullYear(), moment.getUTCMonth() + 1, moment.getUTCDate(), moment.getUTCHours(), moment.getUTCMinutes()]
        : [moment.getFullYear(), moment.getMonth() + 1, moment.getDate(), moment.getHours(), moment.getMinutes()];
}

/** The date that many days from today: `2026-11-22`. */
export function dateText(daysFromNow = 0) {
    const [year, month, today] = parts(new Date());
    const [y, m, d] = parts(make(year, month, today + daysFromNow));
    return `${y}-${two(m)}-${two(d)}`;
}

/** The start of the day, in the zone, that many days from today. */
export function startOfDay(daysFromNow = 0) {
    const [year, month, today] = parts(new Date());
    return make(year, month, today + daysFromNow);
}

/** Parses a filter's text: a date in the zone (as an end, the end of that day) or a time with its own zone. Null for anything
    else. */
export function readMoment(text, isEnd = false) {
    const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
    if (date) {
        const [year, month, number] = date.slice(1).map(Number);
        const [y, m, d] = parts(make(year, month, number));
        if (year < 1970 || y !== year || m !== month || d !== number) return null;
        return make(year, month, number + (isEnd ? 1 : 0));
    }
    if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) return null;
    const moment = new Date(text);
    return Number.isNaN(moment.getTime()) || moment.getTime() < 0 ? null : moment;
}

/** The values of date and time field for a filter's text; a date alone has no time. */
export function fieldsOf(text) {
    const moment = text && readMoment(text);
    if (!moment) return {date: "", time: ""};
    if (text.length === 10) return {date: text, time: ""};
    const [year, month, day, hour, minute] = parts(moment);
    return {date: `${year}-${two(month)}-${two(day)}`, time: `${two(hour)}:${two(minute)}`};
}

/** The filter's text for the values of date and time field. */
export function textOf(date, time) {
    if (!date || !time) return date;
    const [year, month, day] = date.split("-").map(Number);
    const [hour, minute] = time.split(":").map(Number);
    return make(year, month, day, hour, minute).toISOString();
}
