#pragma once

// A file that the program serves to browsers, as it was when the program was built.
struct web_page {
    // Its name below this folder, such as pages/console/app.js.
    const char *name;
    // Text, ended by a zero.
    const unsigned char *text;
};

// A page without a name comes last.
const struct web_page *web_pages(void);
