// The sign-in form, and a waiting page while the server is unreachable.
import {signIn, signInChild} from "/console/api.js";
import {h} from "/console/dom.js";
import {whenReachable} from "/console/recovery.js";

const app = document.getElementById("app");

function page(title, content) {
    app.replaceChildren(h("main", {class: "signinpage"}, content));
    app.removeAttribute("aria-busy");
    document.title = `${title} · Nagz console`;
}

const heading = (text) => [h("img", {src: "/console/icon.svg", width: "48", height: "48", alt: ""}), h("h1", {}, "Nagz console"), h("p", {class: "muted"}, text)];

/** The form; `onDone` is called after a sign-in, and its error is shown. */
export function showSignIn(message, onDone) {
    const problem = h("p", {class: "problem", role: "alert", hidden: !message}, message || "");
    const button = h("button", {class: "primary", type: "submit"}, "Sign in");
    const input = (id, more) => h("input", {id, required: true, ...more});
    const adult = [["Email", input("email", {type: "email", autocomplete: "username"})], ["Password", input("password", {type: "password", autocomplete: "current-password"})]];
    const child = [["Family code", input("familycode", {type: "text", autocomplete: "off", autocapitalize: "characters"})], ["User name", input("username", {type: "text", autocomplete: "username"})],
        ["PIN", input("pin", {type: "password", inputmode: "numeric", autocomplete: "current-password"})]];
    let [fields, begin] = [adult, signIn];
    const place = h("div", {class: "signinfields"});
    const other = h("button", {type: "button", class: "ghost", onclick: () => ask(fields === adult ? child : adult)});

    /** Asks for the fields of an adult or of a child. */
    function ask(wanted) {
        [fields, begin] = wanted === adult ? [adult, signIn] : [child, signInChild];
        place.replaceChildren(...fields.flatMap(([label, control]) => [h("label", {for: control.id}, label), control]));
        other.textContent = wanted === adult ? "Sign in as a child" : "Sign in with an email address";
        fields[0][1].focus();
    }

    page("Sign in", h("form", {class: "card signin", onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        problem.hidden = true;
        try {
            await begin(...fields.map(([, control]) => control.value));
            await onDone();
        } catch (error) {
            problem.textContent = error.status === 403 ? "This account belongs to no family yet. Create or join one in the app, then sign in here." : error.message;
            problem.hidden = false;
            fields.at(-1)[1].select();
        } finally {
            button.disabled = false;
        }
    }}, heading("Who did what, and the proof that nobody changed it."), place, problem, button, other,
        h("p", {class: "fine"}, h("a", {href: "/reset-password"}, "Forgot your password?")),
        h("p", {class: "fine"}, "Guardians see their own family. Participants and children see their own questions, drafts and constraints. Administrators see all families, and the audit log records what they read.")));
    ask(adult);
}

/** For a valid session while the server cannot be asked: the user stays signed in, and the page goes on when it answers. */
export function showWaiting(error, onAgain, onSignOut) {
    const again = h("button", {class: "primary", type: "button", onclick: onAgain}, "Try again");
    const card = h("div", {class: "card signin waiting"}, heading("You are still signed in."), h("p", {class: "problem", role: "alert"}, error.message), again,
        h("button", {type: "button", onclick: onSignOut}, "Sign out"));
    page("Waiting", card);
    if (error.status === 0) whenReachable(card, onAgain);
    again.focus();
}
