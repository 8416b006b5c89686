/**
 * The HTML documents of pages. They contain no data of the request, and no inline code or style.
 */
import type { Assets } from "./assets.ts";

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => escapes[each] ?? "");

const head = (title: string): string =>
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
  '<meta name="color-scheme" content="light dark">\n' +
  `<title>${escaped(title)}</title>\n<link rel="icon" href="${icon}">\n`;

/** The mark of the pages, for the browser's tabs. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22">' +
    '<path fill="#3754d6" ' +
    'd="M7 0h8a7 7 0 0 1 7 7v8a7 7 0 0 1-7 7H2a2 2 0 0 1-2-2V7a7 7 0 0 1 7-7"/>' +
    '<path stroke="#fff" stroke-width="2" d="M5 8h12M5 13h8"/></svg>',
)}`;

const styleLinks = (styles: readonly string[]): string =>
  styles.map((path) => `<link rel="stylesheet" href="./${escaped(path)}">\n`).join("");

/** What the page shows until the scripts are loaded and have read the session. */
const starting = '<div class="starting" aria-hidden="true"><span class="brand-mark"></span></div>';

/** The document into which the scripts render the page. Its paths are below the mount point. */
export function documentOf(title: string, { scripts, styles }: Assets): string {
  const modules = scripts.map(
    (path) => `<script type="module" src="./${escaped(path)}"></script>\n`,
  );
  return (
    `${head(title)}${styleLinks(styles)}${modules.join("")}</head>\n<body>\n` +
    `<div id="app">${starting}</div>\n` +
    "<noscript>This page needs JavaScript.</noscript>\n</body>\n</html>\n"
  );
}

/** The document that is shown instead of a page, with the reason why the page cannot be used. */
export function refusalDocument(title: string, reason: string, { styles }: Assets): string {
  return (
    `${head(title)}${styleLinks(styles)}</head>\n<body>\n<main class="sign-in">\n` +
    '<div class="sign-in-card">\n<span class="brand-mark" aria-hidden="true"></span>\n' +
    `<h1>${escaped(title)}</h1>\n<p class="muted">${escaped(reason)}</p>\n` +
    "</div>\n</main>\n</body>\n</html>\n"
  );
}
