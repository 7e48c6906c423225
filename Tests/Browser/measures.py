"""What is measured of how a page looks: contrast, names and sizes of controls, and what is cut off."""

# The contrast of every piece of text with what lies under it, in computed colours; and of what must be told apart.
CONTRAST = """(() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const read = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255] };
    const over = (top, under) => { const a = top[3] + under[3] * (1 - top[3]); return a === 0 ? [0, 0, 0, 0] : [0, 1, 2].map((i) => (top[i] * top[3] + under[i] * under[3] * (1 - top[3])) / a).concat(a) };
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const under = (element) => { let color = [0, 0, 0, 0]; for (let one = element; one && color[3] < 1; one = one.parentElement) color = over(color, read(getComputedStyle(one).backgroundColor)); return over(color, [255, 255, 255, 1]) };
    const opacity = (element) => { let all = 1; for (let one = element; one; one = one.parentElement) all *= Number(getComputedStyle(one).opacity); return all };
    const ratio = (front, back) => { const [a, b] = [light(front), light(back)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05) };
    const faults = [];
    const root = document.querySelector('dialog[open]') || document.body;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || !element.checkVisibility({visibilityProperty: true}) || element.closest('.sr, .skip, option, :disabled, script, noscript')) continue;
        const style = getComputedStyle(element);
        const isSVG = element instanceof SVGElement;
        const back = under(isSVG ? element.closest('svg').parentElement : element);
        const color = read(isSVG ? style.fill : style.color);
        color[3] *= opacity(element);
        const size = parseFloat(style.fontSize);
        const least = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700 ? 3 : 4.5;
        const found = ratio(over(color, back), back);
        if (found < least) faults.push(`${found.toFixed(2)} ${element.className?.baseVal ?? element.className} “${node.data.trim().slice(0, 30)}”`);
    }
    for (const part of root.querySelectorAll('.plot rect:not(.hit), .legend i, .seal > .icon, button > .icon, .verdict > .icon, .steps .icon')) {
        const style = getComputedStyle(part);
        const back = under(part.closest('svg') ? part.closest('svg').parentElement : part.parentElement);
        const front = read(part.tagName === 'rect' ? style.fill : part.tagName === 'I' ? style.backgroundColor : style.color);
        front[3] *= opacity(part);
        const found = ratio(over(front, back), back);
        if (found < 3) faults.push(`${found.toFixed(2)} ${part.className?.baseVal ?? part.className} of ${part.parentElement.className?.baseVal ?? part.parentElement.className}`);
    }
    for (const field of root.querySelectorAll('input:not([type=search], [type=checkbox]), select, textarea, .searchbox')) {
        if (!field.checkVisibility()) continue;
        const found = ratio(read(getComputedStyle(field).borderTopColor), under(field.parentElement));
        if (found < 3) faults.push(`${found.toFixed(2)} border of ${field.name || field.className}`);
    }
    return [...new Set(faults)];
})()"""


def unnamed(browser):
    """Controls without a name, as the browser tells them to assistive technology."""
    browser.command("Accessibility.enable")
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    browser.command("Accessibility.disable")
    roles = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "listbox", "dialog", "Date", "InputTime", "DisclosureTriangle", "grid"}
    return [node["role"]["value"] for node in nodes
            if not node.get("ignored") and node["role"]["value"] in roles and not node.get("name", {}).get("value", "").strip()]


# What lies beyond the right edge, or is cut off by its own box: names are the only text that may be.
CUT_OFF = """[...document.querySelectorAll('main *, header *, dialog[open] *')].filter((one) => one.checkVisibility() && !one.closest('.scroller, .sr, .options, .chain, svg')
    && (one.getBoundingClientRect().right > innerWidth + 1 || getComputedStyle(one).overflowX !== 'visible' && !one.closest('.name, input, select, .drawerbody') && one.scrollWidth > one.clientWidth + 1))
    .map((one) => `${one.tagName} ${one.className}`).slice(0, 9)"""


# What is pressed and is less than 24 pixels wide or high: not links within sentences, and not bars of the chart, whose table has buttons.
TARGETS = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((one) => {
    if (!one.checkVisibility() || one.closest('.skip, .searchbox, svg') || getComputedStyle(one).display === 'inline' && one.closest('p, li, small')) return false;
    const {width, height} = one.getBoundingClientRect(); return width < 23.5 || height < 23.5 })
    .map((one) => { const {width, height} = one.getBoundingClientRect(); return `${one.tagName} ${one.className} “${one.textContent.slice(0, 20)}” ${width.toFixed(1)} × ${height.toFixed(1)}` }).slice(0, 9)"""


# Whether the console's name, views and tools are beside each other in one line.
IN_ONE_LINE = """(() => {
    const boxes = [...document.querySelectorAll('.top .brand, .top nav a, .top .tools > *')].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
    return boxes.length > 5 && Math.max(...boxes.map(({top}) => top)) < Math.min(...boxes.map(({bottom}) => bottom)) })()"""


def check_look(browser):
    """That nothing is wider than the page or cut off, texts have their contrast, and controls have names, once transitions have ended."""
    browser.settle()
    assert browser.js("document.documentElement.scrollWidth <= innerWidth") and not browser.js(CUT_OFF), browser.js(CUT_OFF)
    assert not browser.js(CONTRAST), browser.js(CONTRAST)
    assert not unnamed(browser), unnamed(browser)
    assert not browser.js(TARGETS), browser.js(TARGETS)
