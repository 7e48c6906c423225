// The sign-in form, and a waiting page while the server is unreachable.
import {signIn} from "/console/api.js";
import {h} from "/console/dom.js";

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
    const email = h("input", {id: "email", type: "email", autocomplete: "username", required: true});
    const password = h("input", {id: "password", type: "password", autocomplete: "current-password", required: true});
    page("Sign in", h("form", {class: "card signin", onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        problem.hidden = true;
        try {
            await signIn(email.value, password.value);
            await onDone();
        } catch (error) {
            problem.textContent = error.status === 403 ? "This account may read no audit log. Guardians and administrators may." : error.message;
            problem.hidden = false;
            password.select();
        } finally {
            button.disabled = false;
        }
    }}, heading("Who did what, and the proof that nobody changed it."),
        h("label", {for: "email"}, "Email"), email, h("label", {for: "password"}, "Password"), password, problem, button,
        h("p", {class: "fine"}, "Guardians see their own family. Administrators see all of it, and each of their looks is an entry itself.")));
    email.focus();
}

/** For a valid session while the server is unreachable: the user stays signed in. */
export function showWaiting(message, onAgain, onSignOut) {
    const again = h("button", {class: "primary", type: "button", onclick: onAgain}, "Try again");
    page("Waiting", h("div", {class: "card signin waiting"}, heading("You are still signed in."), h("p", {class: "problem", role: "alert"}, message), again,
        h("button", {type: "button", onclick: onSignOut}, "Sign out")));
    again.focus();
}
