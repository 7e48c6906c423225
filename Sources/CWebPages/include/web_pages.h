#pragma once

// A file that the program serves to browsers, as it was when the program was built.
struct web_page {
    // Its path relative to the folder CWebPages: pages/console/app.js, or ../../openapi/openapi.json.
    const char *name;
    // Text, ended by a zero.
    const unsigned char *text;
};

// Returns all files. An element without a name marks the end.
const struct web_page *web_pages(void);
