// Sets a new password with a code, and asks for one. Nothing waits for the page's language; without its words the page is English.
import("/console/language.js").catch(() => {});

const byID = (id) => document.getElementById(id);

/** Sends a form's values, and shows what the server says. */
function serve(form, path, body, done) {
    const problem = form.querySelector(".problem"), button = form.querySelector("button");
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        button.disabled = true;
        problem.hidden = true;
        try {
            const response = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body()), cache: "no-store"});
            if (response.ok) return done();
            problem.textContent = (await response.json()).error.message;
        } catch {
            problem.textContent = "The server cannot be reached.";
        } finally {
            button.disabled = false;
        }
        problem.hidden = false;
    });
}

function finish(form, title, text, link) {
    const heading = document.createElement("h1");
    heading.textContent = title;
    const words = document.createElement("p");
    words.setAttribute("role", "status");
    words.textContent = text;
    form.replaceChildren(heading, words);
    if (!link) return;
    const anchor = document.createElement("a");
    anchor.href = "/console";
    anchor.textContent = link;
    form.append(anchor);
}

serve(byID("set"), "/api/v1/auth/password-reset", () => ({code: byID("code").value, new_password: byID("password").value}), () => {
    byID("ask").remove();
    finish(byID("set"), "Done", "Sign in with the new password.", "Sign in to the console");
});
serve(byID("ask"), "/api/v1/auth/password-resets", () => ({email: byID("email").value}), () => {
    finish(byID("ask"), "Check your mail", "If this address has an account, a mail with a code is on its way.");
});

// The part behind # is in no request and in no server's log. It leaves the address bar too.
if (location.hash.length > 1) {
    byID("code").value = decodeURIComponent(location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
    byID("password").focus();
}
