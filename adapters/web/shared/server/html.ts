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
  `<title>${escaped(title)}</title>\n`;

/** The document into which the scripts render the page. Its paths are below the mount point. */
export function documentOf(title: string, { scripts, styles }: Assets): string {
  const links = [
    ...styles.map((path) => `<link rel="stylesheet" href="./${escaped(path)}">\n`),
    ...scripts.map((path) => `<script type="module" src="./${escaped(path)}"></script>\n`),
  ];
  return (
    `${head(title)}<link rel="icon" href="data:,">\n${links.join("")}</head>\n<body>\n` +
    '<div id="app"></div>\n<noscript>This page needs JavaScript.</noscript>\n</body>\n</html>\n'
  );
}

/** The document that is shown instead of a page, with the reason why the page cannot be used. */
export function refusalDocument(title: string, reason: string): string {
  return (
    `${head(title)}</head>\n<body>\n<main>\n<h1>${escaped(title)}</h1>\n` +
    `<p>${escaped(reason)}</p>\n</main>\n</body>\n</html>\n`
  );
}
