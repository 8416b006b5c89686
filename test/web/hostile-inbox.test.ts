/** Everything that a stranger can write, in every field that a stranger controls. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { all } from "../support/pages.ts";
import { isLong } from "../support/runs.ts";
import { triedHostileTexts } from "./hostile-texts.ts";
import { openInbox } from "./shop-pages.ts";

const shortened = (text: string, max: number): string => Array.from(text).slice(0, max).join("");

const phoneOf = (i: number): string => `+1415555${String(i).padStart(4, "0")}`;

const files = [
  `https://example.com/"><img src=x onerror=alert(1)>.png`,
  "https://example.com/%3Cscript%3Ealert(2)%3C/script%3E",
  "http://xn--80ak6aa92e.com/a.svg?javascript:alert(3)",
  "https://user:alert(4)@evil.example/a.png",
];

const shownPhone = (phone: string): string =>
  phone.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, "+1 $1 $2 $3");

/** A text within one of the page. Its marks of direction could reorder the words around it. */
const embedded = (text: string): string => {
  const bare = text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(bare) ? `\u2068${bare}\u2069` : bare;
};

/** Nobody could find the contact by a name without a visible character. */
const shownName = (name: string, phone: string): string =>
  /^[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]*$/u.test(name)
    ? shownPhone(phone)
    : shownPhone(name);

/** The tags inside of the elements, apart from links, marked directions and places to break. */
const foreign = (selector: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(`:is(${selector}) *`)})]
     .map(({ localName }) => localName).filter((name) => !["a", "bdi", "wbr"].includes(name))`;

const texts = (page: Page, selector: string): Promise<string[]> =>
  page.locator(selector).allTextContents();

/** Scrolls through the list. Returns what each row shows, by the conversation's id. */
const allRows = `(async () => {
  const rows = new Map();
  const box = document.querySelector(".virtual-list");
  for (let still = 0; still < 40; ) {
    const before = rows.size;
    for (const row of document.querySelectorAll(".row")) {
      const id = row.href.split("/").at(-1);
      rows.set(id, [".row-name", ".row-preview > .truncate"].map((part) =>
        row.querySelector(part).textContent));
    }
    still = rows.size === before ? still + 1 : 0;
    box.scrollTop += box.clientHeight;
    await new Promise(requestAnimationFrame);
  }
  return [...rows];
})()`;

test("no text of a stranger runs or becomes markup, wherever the inbox shows it", async ({
  skip,
}) => {
  expect(triedHostileTexts.length).toBeGreaterThan(isLong ? 200 : 100);
  const { shop, page, faults, url } = await openInbox(skip, {
    options: { limits: { messageCharacters: 10_000 } },
  });
  const perThread = 40;
  const threads: {
    conversation: string;
    contact: string;
    name: string;
    bodies: string[];
    facts: string[];
    labels: readonly string[];
  }[] = [];
  for (const [i, text] of triedHostileTexts.entries()) {
    const phone = phoneOf(i);
    const name = shortened(text, 200).trim() === "" ? "-" : shortened(text, 200);
    const isThread = i % perThread === 0;
    const own = isThread ? triedHostileTexts.slice(i, i + perThread) : [];
    const facts = own.map((each, n) => [`${n} ${shortened(each, 60)}`, shortened(each, 500)]);
    const labels = [...new Set(own.map((each) => shortened(each, 64).trim()))]
      .filter((each) => each !== "")
      .slice(0, 20);
    const contact = await shop.contacts.create({
      phone,
      name,
      labels,
      attributes: Object.fromEntries(facts),
    });
    const first = await shop.sandbox.inbound({ from: phone, body: text });
    if (!isThread) continue;
    for (const body of own.slice(1)) await shop.sandbox.inbound({ from: phone, body });
    for (const each of own.slice(0, 5).filter((each) => each.slice(0, 500).trim() !== "")) {
      await shop.contacts.addObservation(contact.id, {
        content: shortened(each, 500),
        kind: "fact",
      });
    }
    const conversation = first.conversation_id;
    const shown = shownName(name, phone);
    const thread = { conversation, contact: contact.id, name: shown, labels };
    threads.push({ ...thread, bodies: own, facts: facts.flat() });
  }
  const media = await shop.sandbox.inbound({
    from: phoneOf(9_000),
    body: "",
    media: files.map((url) => ({ url })),
  });

  await page.goto(url);
  await page.locator(".row").first().waitFor();
  const expected = new Map<string, string[]>();
  for (const { id, contact, last_message } of await all((each) => shop.conversations.list(each))) {
    const name = shownName(contact.name, contact.phone ?? "");
    expected.set(id, [name, last_message?.preview || "Attachment or empty message"]);
  }
  expect(expected.size).toBe(triedHostileTexts.length + 1);
  expect(new Map(await page.evaluate<[string, string[]][]>(allRows))).toEqual(expected);
  expect(await page.evaluate(foreign(".row-name, .row-preview > .truncate"))).toEqual([]);

  for (const { conversation, name, bodies, facts } of threads) {
    await page.evaluate(`location.hash = "#/all/${conversation}"`);
    const last = facts.at(-1) ?? "";
    await page
      .locator(".fact")
      .nth(facts.length / 2)
      .waitFor();
    await page
      .locator(".message")
      .nth(bodies.length - 1)
      .waitFor();
    expect(await texts(page, ".message.is-in .message-text")).toEqual(bodies);
    expect(await texts(page, ".conversation-header h2")).toEqual([name]);
    const shown = await texts(page, ".fact dt, .fact dd > bdi");
    expect(shown.slice(-facts.length)).toEqual(facts);
    expect(shown.at(-1)).toBe(last);
    expect(await page.evaluate(foreign(".message-text, .fact dt, .fact dd > bdi, h2"))).toEqual([]);
  }
  await page.evaluate(`location.hash = "#/all/${media.conversation_id}"`);
  await page
    .locator(".attachment")
    .nth(files.length - 1)
    .waitFor();
  const links = (await page.evaluate(
    `[...document.querySelectorAll(".thread a, .contact .fact a")].map(({ href, rel }) => [href, rel])`,
  )) as [string, string][];
  expect(links).toHaveLength(files.length - 1);
  for (const [href, rel] of links) {
    expect(href).toMatch(/^https?:/);
    expect(rel).toContain("noopener");
  }
  expect(await page.evaluate(foreign(".attachment > a"))).toEqual([]);

  await page.evaluate(`location.hash = "#/contacts"`);
  await page.locator(".row.is-contact").first().waitFor();
  const people = new Map<string, string>();
  for (const { id, name, phone } of await all((each) => shop.contacts.list(each))) {
    people.set(id, shownName(name ?? "", phone ?? ""));
  }
  const rows = await page.evaluate<[string, string[]][]>(allRows);
  expect(new Map(rows.map(([id, [name]]) => [id, name]))).toEqual(people);
  expect(await page.evaluate(foreign(".row-name, .row-preview > .truncate, .badge"))).toEqual([]);
  for (const { contact, name, facts, labels, bodies } of threads) {
    const [label = ""] = labels;
    const query = new URLSearchParams({ label }).toString();
    await page.evaluate(`location.hash = ${JSON.stringify(`#/contacts/${contact}?${query}`)}`);
    await page
      .locator(".contact-page .fact")
      .nth(facts.length / 2)
      .waitFor();
    await page.locator(".other").first().waitFor();
    expect(await texts(page, ".conversation-header h2")).toEqual([name]);
    expect(await texts(page, ".chip > bdi")).toEqual([`Label: ${embedded(label)}`]);
    await expect.poll(() => texts(page, ".row-name")).toEqual([name]);
    expect(await texts(page, ".fact-labels bdi")).toEqual(labels);
    const shown = await texts(page, ".fact dt, .fact dd > bdi");
    expect(shown.slice(-facts.length)).toEqual(facts);
    const preview = shortened(bodies.at(-1) ?? "", 140);
    expect(await texts(page, ".other > bdi")).toEqual([preview === "" ? "Text" : preview]);
    const parts = ".fact dt, .fact dd > bdi, .fact-labels bdi, .chip > bdi, .other > bdi, h2";
    expect(await page.evaluate(foreign(parts))).toEqual([]);
  }
  // The test opens conversations faster than an operator may. The page repeats what was refused.
  expect(faults.filter((fault) => !fault.includes("status of 429"))).toEqual([]);
});
