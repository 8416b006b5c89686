/** What the page's headers stop in a real browser, and what they let the page do. */
import { expect, it } from "vitest";
import { chromium } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { listening } from "../support/listening.ts";
import { builtFolder, engineOf, pageOf, siteOf } from "./pages.ts";

/** Tries what injected code would try, and what the page itself does. Runs in the browser. */
const probes = `
const results = {};
const probe = async (name, work) => {
  results[name] = await Promise.resolve().then(work).then(() => "done", () => "stopped");
};
const loads = (source) => new Promise((resolve, reject) => {
  const image = document.body.appendChild(new Image());
  image.onload = resolve;
  image.onerror = reject;
  image.src = source;
});
const other = new URL(location.href).searchParams.get("other");
const paragraph = document.body.appendChild(document.createElement("p"));
await probe("markup from text", () => { paragraph.innerHTML = "<b>text</b>"; });
await probe("code from text", () => Function("return 1")());
await probe("picture of another origin", () => loads(other + "/picture"));
await probe("request to another origin", () => fetch(other + "/fetch", { mode: "no-cors" }));
await probe("inline style", () => {
  paragraph.setAttribute("style", "color: rgb(1, 2, 3)");
  if (getComputedStyle(paragraph).color !== "rgb(1, 2, 3)") throw new Error("no style");
});
await probe("session in a script", () => { if (document.cookie === "") throw new Error("none"); });
await probe("style by script", () => {
  paragraph.style.color = "rgb(4, 5, 6)";
  if (getComputedStyle(paragraph).color !== "rgb(4, 5, 6)") throw new Error("no style");
});
await probe("picture from memory", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
  return loads(URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })));
});
await probe("own API", async () => {
  const answer = await fetch("./v1/account", { headers: { "Tidings-Page": "1" } });
  if (answer.status !== 200) throw new Error("refused");
});
await probe("own write", async () => {
  const headers = { "Tidings-Page": "1", "Content-Type": "application/json" };
  const body = JSON.stringify({ name: "own" });
  const answer = await fetch("./v1/api-keys", { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error("refused");
});
document.title = JSON.stringify(results);
`;

/** Two writes of another website: one that needs no preflight, and one that does. */
const forgery = (base: string): string => `(async () => {
  const send = (headers, mode) =>
    fetch("${base}/v1/api-keys", {
      method: "POST",
      mode,
      credentials: "include",
      headers,
      body: JSON.stringify({ name: "forged" }),
    }).then(({ type }) => type, () => "stopped");
  return [
    await send({ "Content-Type": "text/plain" }, "no-cors"),
    await send({ "Tidings-Page": "1" }, "cors"),
  ];
})()`;

it("a browser lets the page do its work, and stops injected code and other websites", async ({
  skip,
}) => {
  const browser = await chromium(skip);
  const engine = engineOf();
  const page = pageOf(engine, {}, builtFolder(probes));
  const site = await siteOf(page);
  const reached: string[] = [];
  const framing = `<!doctype html><iframe src="${site.base}/"></iframe>`;
  const strangerPort = await listening((request, response) => {
    reached.push(request.url ?? "");
    response.setHeader("Content-Type", "text/html").end(framing);
  });

  const context = await browser.newContext();
  // Signs in as the page does, in its origin.
  const tab = await context.newPage();
  await tab.goto(`${site.base}/?other=http://127.0.0.1:${strangerPort}`);
  // The browser's own way to wait for a condition would evaluate text, which the page forbids.
  const probed = () => eventually(async () => expect(await tab.title()).toMatch(/^\{/));
  await probed();
  const status = await tab.evaluate(async (token) => {
    const headers = { "Tidings-Page": "1", "Content-Type": "application/json" };
    const body = JSON.stringify({ token });
    return (await fetch("./session", { method: "POST", headers, body })).status;
  }, page.token);
  expect(status).toBe(204);
  await tab.reload();
  await probed();
  expect(JSON.parse(await tab.title())).toEqual({
    "markup from text": "stopped",
    "code from text": "stopped",
    "picture of another origin": "stopped",
    "request to another origin": "stopped",
    "inline style": "stopped",
    "session in a script": "stopped",
    "style by script": "done",
    "picture from memory": "done",
    "own API": "done",
    "own write": "done",
  });
  expect(reached).toEqual([]);

  // Another server on this machine has the same cookies, but not the page's origin.
  const other = await context.newPage();
  await other.goto(`http://localhost:${strangerPort}/`);
  const framed = other.frames().find((frame) => frame !== other.mainFrame());
  expect(framed?.url()).toMatch(/^chrome-error:/);
  const forged = await other.evaluate<string[]>(forgery(site.base));
  // The server refuses the first, and the browser the second, which needs a preflight.
  expect(forged).toEqual(["stopped", "stopped"]);
  const { data } = await engine.account(undefined, { mode: "sandbox" }).apiKeys.list();
  expect(data.map(({ name }) => name)).toEqual(["own"]);
});
