/** Every page of the console: full of what strangers can write, empty, loading and broken. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { cases, isLong, longTest, runs } from "../support/runs.ts";
import { active, faultsOf, show } from "./faults.ts";
import { hostileTexts as allTexts } from "./hostile-texts.ts";
import { newReceiver } from "./receiver.ts";
import { kim, newShop, newTab, openConsole, refundAction, servePage } from "./shop-pages.ts";

const phone = "+14155560199";
/** `npm test` tries texts of each kind. The step meets each tag. */
const hostileTexts = isLong ? allTexts : allTexts.filter((_, i) => i % 7 === 0);
/** The texts of one phone, of one agent's runs and of one webhook. */
const some = hostileTexts.filter((_, i) => i % (isLong ? 12 : 4) === 0);
const markup = "<img src=x onerror=alert(1)> javascript:alert(2)";

/** A shop that strangers have written to, with something on every page. */
async function hostileShop() {
  const { http, agents } = standard();
  const { engine, shop, authorize } = await newShop({
    limits: { messageCharacters: 10_000 },
    http: { ...http, allow: ["127.0.0.1"] },
    agents: { ...agents, actions: [refundAction(() => {})] },
  });
  const receiver = await newReceiver();
  const headers = { "Content-Type": "text/html", "X-Hostile": markup };
  receiver.answer({ status: 500, headers, body: markup });
  for (const [i, body] of hostileTexts.entries()) {
    const from = `+1415555${String(i).padStart(4, "0")}`;
    const name = Array.from(body).slice(0, 200).join("");
    await shop.contacts.create({ phone: from, ...(name.trim() !== "" && { name }) });
    await shop.sandbox.inbound({ from, body });
  }
  // It gets few events: each is an HTTP request, and is tried again.
  const { url } = receiver;
  const webhook = await shop.webhooks.create({ url, description: markup, events: ["*"] });
  const written: { readonly id: string; readonly body: string }[] = [];
  for (const body of some) {
    const { id } = await shop.sandbox.inbound({ from: phone, body });
    written.push({ id, body });
  }
  const withFile = await shop.sandbox.inbound({
    from: phone,
    body: "With a file",
    media: [{ url: "https://example.com/%3Cimg%20src=x%20onerror=alert(1)%3E.png" }],
  });
  const { contact_id } = await shop.sandbox.inbound({ from: phone, body: "STOP" });
  await shop.contacts.setConsent(contact_id, "text", { status: "opted_in", detail: markup });
  const playbook = await shop.playbooks.create({
    name: "Greeting",
    trigger: { keywords: ["hello"] },
    slots: [{ name: "day", type: "text", required: true, prompt: "Which day?" }],
    steps: [
      { id: "ask", type: "ask", slot: "day", on_fail: "pass_on" },
      { id: "tell", type: "send", text: "Until {{day}}.", next: "end" },
      { id: "pass_on", type: "handoff", reason: "No day" },
      { id: "end", type: "resolve" },
    ],
  });
  const agent = await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms"],
    playbook_ids: [playbook.id],
    reply: { debounce_ms: 0 },
  });
  const { conversation_id } = await shop.sandbox.inbound({ from: "+14155560198", body: "Hello" });
  await shop.sandbox.inbound({ from: "+14155560198", body: markup });
  await shop.agents.trigger(agent.id, {
    conversation_id,
    action: "refund",
    input: { order: markup },
  });
  const agentRuns = await eventually(async () => {
    const { data } = await shop.agents.runs(agent.id);
    expect(data.map(({ status }) => status)).toContain("awaiting_approval");
    expect(data.map(({ status }) => status)).toContain("completed");
    return data;
  });
  const failed = await shop.messages.send({ to: "+15005550002", body: markup });
  const [delivery] = await eventually(async () => {
    const { data } = await shop.webhooks.deliveries(webhook.id);
    expect(data[0]?.attempts).not.toEqual([]);
    return data;
  });
  const made = { webhook, delivery, agent, playbook, agentRuns, written, withFile, failed };
  return { engine, shop, authorize, contact_id, ...made };
}

/**
 * The rows of the list of events, by scrolling through it until those that are wanted were there. A
 * page may take two seconds to load.
 */
const summaries = (wanted: readonly string[]): string => `(async () => {
  const found = new Set();
  const box = document.querySelector(".virtual-list");
  const wanted = ${JSON.stringify(wanted)};
  for (let still = 0; still < 120 && wanted.some((each) => !found.has(each)); ) {
    const before = found.size;
    for (const each of document.querySelectorAll(".event-summary")) found.add(each.textContent);
    still = found.size === before ? still + 1 : 0;
    box.scrollTop += box.clientHeight;
    await new Promise(requestAnimationFrame);
  }
  return [...found];
})()`;

/** The table shows the beginnings of texts, of at least so many characters. */
const shortest = 190;

const texts = (page: Page, selector: string): Promise<string[]> =>
  page.locator(selector).allTextContents();

const activeParts = (page: Page): Promise<string[]> => page.evaluate<string[]>(active);

/** Places whose frame the other pages have, too. `npm test` looks for all faults at these alone. */
const telling = /^#[/](phones|messages|events|agents[/][^/]+[/]edit|webhooks[/][^/]+[/][^/]+)$/;

test("what strangers write is text on each page of the console, and the pages stay whole", async ({
  skip,
}) => {
  expect(allTexts.length).toBeGreaterThan(200);
  const { engine, shop, authorize, agentRuns, written, ...of } = await hostileShop();
  const { url } = await servePage(consoleHandler(engine, { authorize }));
  const { page, faults } = await newTab(await newContext(skip));
  await page.addInitScript(
    `localStorage.setItem("tidings:console-phones:${shop.scope.account_id}", "${phone}")`,
  );
  const waiting = agentRuns.find(({ status }) => status === "awaiting_approval");
  const completed = agentRuns.find(({ status }) => status === "completed");
  const places = {
    "#/overview": ".chart-box canvas",
    "#/phones": ".text",
    "#/messages": ".message-body",
    [`#/messages/${of.failed.id}`]: ".timeline-row",
    [`#/messages/${of.withFile.id}`]: ".message-media a",
    "#/events": ".event-row",
    "#/webhooks": ".table",
    [`#/webhooks/${of.webhook.id}`]: ".table",
    [`#/webhooks/${of.webhook.id}/${of.delivery?.id}`]: ".attempt",
    "#/agents": ".table",
    [`#/agents/${of.agent.id}`]: ".try-out",
    [`#/agents/${of.agent.id}/edit`]: ".editor",
    [`#/agents/${of.agent.id}/${waiting?.id}`]: ".approval",
    [`#/agents/${of.agent.id}/${completed?.id}`]: ".timeline-row",
    [`#/agents/playbooks/${of.playbook.id}`]: "svg",
    [`#/agents/playbooks/${of.playbook.id}/edit`]: ".step-card",
    "#/access/keys": ".table",
    "#/access/senders": ".table",
    [`#/access/consent/${of.contact_id}`]: ".timeline-row",
    "#/api/messagesSend": ".operation",
  };
  await page.goto(url);
  for (const [place, landmark] of Object.entries(places)) {
    await show(page, place);
    await page.locator("main").locator(landmark).first().waitFor();
    const newPart = place === "#/phones" ? undefined : "main";
    const isTelling = isLong || telling.test(place);
    const found = isTelling ? await faultsOf(page, newPart) : await activeParts(page);
    for (const fault of found) faults.push(`${place} ${String(fault)}`);
  }
  expect(faults).toEqual([]);

  // The form of an endpoint begins with the example of the OpenAPI document.
  const example = await page.locator(".operation textarea").inputValue();
  expect(JSON.parse(example)).toMatchObject({ body: "Your order 1042 is ready." });

  // Each text is there as it was written.
  await show(page, "#/phones");
  await page.getByText("With a file").waitFor();
  const bubbles = await texts(page, ".text.is-own .text-bubble");
  expect(bubbles.slice(0, some.length)).toEqual(some);
  await show(page, "#/messages?direction=inbound");
  const bodies = page.locator(".message-body");
  const begun = [...hostileTexts, ...some].map((text) => text.slice(0, shortest));
  for (let count = 50; count < begun.length; count += 50) {
    await bodies.nth(count - 1).waitFor();
    await page.getByRole("button", { name: "Load more" }).click();
  }
  await bodies.nth(begun.length).waitFor();
  const previews = new Set((await bodies.allTextContents()).map((text) => text.slice(0, shortest)));
  expect(begun.filter((text) => !previews.has(text))).toEqual([]);
  await show(page, "#/events?type=message.received");
  await page.locator(".event-row").first().waitFor();
  const summarized = new Set(await page.evaluate<string[]>(summaries(hostileTexts)));
  expect(hostileTexts.filter((text) => !summarized.has(text))).toEqual([]);
  for (const { id, body } of written.slice(0, runs(written.length))) {
    await show(page, `#/messages/${id}`);
    await page.getByText(id).first().waitFor();
    expect(await texts(page, ".message-content")).toEqual([body]);
  }
  await show(page, `#/webhooks/${of.webhook.id}/${of.delivery?.id}`);
  await page.getByRole("region", { name: "Response body" }).first().waitFor();
  const response = await texts(page, ".attempt[open] [aria-label='Response body'] code");
  expect(response).toEqual([markup]);
  await show(page, `#/access/consent/${of.contact_id}`);
  await page.locator(".consent-address bdi").getByText(markup).waitFor();
  await show(page, `#/agents/${of.agent.id}/${waiting?.id}`);
  await page.locator(".approval").waitFor();
  for (const step of await page.locator("details.step > summary").all()) await step.click();
  expect(await activeParts(page)).toEqual([]);
  expect(faults).toEqual([]);
});

/** Holds the answers of the API back. */
async function heldBack(page: Page): Promise<() => Promise<void>> {
  const released = Promise.withResolvers<void>();
  await page.route("**/v1/**", async (route) => {
    await released.promise;
    await route.fallback();
  });
  return async () => {
    released.resolve();
    await page.unrouteAll({ behavior: "wait" });
  };
}

test("empty pages, pages that load, and pages that cannot load are whole and accessible", async ({
  skip,
}) => {
  const { url, page, faults } = await openConsole(skip);
  const states = {
    "#/overview": "Nothing is waiting.",
    "#/phones": "No messages. Write one below, from the phone or from your account.",
    "#/messages": "No messages yet",
    "#/events": "No event selected",
    "#/webhooks": "No webhooks",
    "#/agents": "No agents",
    "#/access/consent": "No contact selected",
    "#/api": "No endpoint selected",
    "#/mesages/msg_1": "There is no such page",
  };
  await page.goto(url);
  const few = new Set(["#/overview", "#/mesages/msg_1"]);
  for (const [place, text] of cases(Object.entries(states), ([each]) => few.has(each))) {
    await show(page, place);
    await page.locator("main").getByText(text).first().waitFor();
    const newPart = place === "#/overview" ? undefined : "main";
    for (const fault of await faultsOf(page, newPart)) faults.push(`${place} ${String(fault)}`);
  }
  const loading = ["#/messages", "#/webhooks", "#/agents", "#/access/senders"];
  for (const place of cases(loading, (each) => each === "#/messages")) {
    const release = await heldBack(page);
    await show(page, place);
    await page.locator("main .skeleton").first().waitFor();
    const found = await faultsOf(page, "main");
    for (const fault of found) faults.push(`${place} loading ${String(fault)}`);
    await release();
  }
  expect(faults).toEqual([]);
  await page.route("**/v1/**", (route) => route.abort());
  const failing = ["#/overview", "#/messages", "#/agents", "#/access/keys", "#/messages/msg_1"];
  for (const place of cases(failing, (each) => each === "#/agents")) {
    await show(page, place);
    await page.locator("main").getByRole("button", { name: "Try again" }).first().waitFor();
    const newPart = place === "#/overview" ? undefined : "main";
    expect([place, await faultsOf(page, newPart)]).toEqual([place, []]);
  }
});

longTest(
  "a page that the person has no scope for has its own title, and says what is missing",
  async ({ skip }) => {
    const { engine, shop } = await newShop();
    const { account_id, mode } = shop.scope;
    const authorize = () => ({ account_id, mode, operator: kim, may: [] });
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const { page, faults } = await newTab(await newContext(skip));
    await page.goto(url);
    const titles = {
      "#/phones": "Phones",
      "#/messages": "Messages",
      "#/events": "Events",
      "#/webhooks": "Webhooks",
      "#/agents": "Agents",
      "#/access": "Access",
    };
    const few = new Set(["#/messages", "#/access"]);
    for (const [place, title] of cases(Object.entries(titles), ([each]) => few.has(each))) {
      await show(page, "#/overview");
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      await show(page, place);
      await page.getByRole("heading", { name: "You have no access to this page" }).waitFor();
      await page.getByRole("heading", { name: title, level: 1, exact: true }).waitFor();
      expect(await page.title()).toContain(title);
    }
    expect(faults.filter((fault) => !fault.includes("403"))).toEqual([]);
  },
);

test("each dialog of the console is accessible, closes by Escape and gives the focus back", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openConsole(skip);
  await shop.sandbox.inbound({ from: phone, body: "Hello" });
  const { contact_id } = await shop.sandbox.inbound({ from: phone, body: "STOP" });
  const { id: webhook } = await shop.webhooks.create({
    url: "https://shop.example/hooks",
    events: ["*"],
  });
  const { id: scheduled } = await shop.messages.send({
    to: "+15005550001",
    body: "Tomorrow",
    send_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const { id: agent } = await shop.agents.create({ name: "Bea", channels: ["sms"] });
  const { id: playbook } = await shop.playbooks.create({
    name: "Greeting",
    steps: [{ id: "tell", type: "send", text: "Hello" }],
  });
  await page.goto(url);
  const button = (name: string) => page.getByRole("button", { name }).first();
  const inMenu = (menu: string, item: string) => async () => {
    await button(menu).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const all: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    ["#/phones", "[role=listbox]", () => button("Add phone").click()],
    ["#/phones", "[role=dialog], dialog", () => button("Requests").click()],
    ["#/phones", "[role=menu]", () => button("Appearance").click()],
    [`#/messages/${scheduled}`, "dialog", () => button("Cancel the message").click()],
    ["#/webhooks", "dialog", () => button("Add webhook").click()],
    [`#/webhooks/${webhook}`, "[role=menu]", () => button("More actions").click()],
    [`#/webhooks/${webhook}`, "dialog", inMenu("More actions", "Recover failed deliveries")],
    [`#/webhooks/${webhook}`, "dialog", inMenu("More actions", "Rotate secret")],
    [`#/webhooks/${webhook}`, "dialog", inMenu("More actions", "Delete webhook")],
    [`#/webhooks/${webhook}`, "dialog", () => button("Send test event").click()],
    [`#/agents/${agent}`, "dialog", () => button("Delete Bea").click()],
    [`#/agents/playbooks/${playbook}`, "dialog", () => button("Delete Greeting").click()],
    [`#/agents/playbooks/${playbook}/edit`, "[role=menu]", () => button("Add step").click()],
    [`#/agents/playbooks/${playbook}/edit`, "[role=menu]", () => button("Step tell").click()],
    ["#/access/keys", "dialog", () => button("Create key").click()],
    ["#/access/keys", "dialog", inMenu("Actions of", "Rotate the secret")],
    ["#/access/keys", "dialog", inMenu("Actions of", "Revoke")],
    ["#/access/senders", "dialog", () => button("Add sender").click()],
    ["#/access/senders", "dialog", inMenu("Actions of", "Edit")],
    ["#/access/senders", "dialog", inMenu("Actions of", "Remove")],
    [`#/access/consent/${contact_id}`, "dialog", () => button("Record an opt-in").click()],
  ];
  // Every fourth leaves a list, a menu, forms and questions.
  const dialogs = cases(all, (each) => all.indexOf(each) % 4 === 0);
  for (const [i, [place, box, open]] of dialogs.entries()) {
    await show(page, place);
    await open();
    await page.locator(box).first().waitFor();
    const newPart = i === 0 ? undefined : `${box}, [aria-expanded=true]`;
    const found = await faultsOf(page, newPart);
    for (const fault of found) faults.push(`${place} ${box} ${String(fault)}`);
    await page.keyboard.press("Escape");
    await page.locator(box).first().waitFor({ state: "detached" });
    // The focus returns to what opened it.
    const hasFocus = await page.evaluate<boolean>("document.activeElement !== document.body");
    if (!hasFocus) faults.push(`${place} ${box} has lost the focus`);
  }
  expect(faults).toEqual([]);
});

longTest(
  "charts are drawn in a browser whose system has a language that `Intl` refuses",
  async ({ skip }) => {
    const { url, page } = await openConsole(skip);
    await page.addInitScript(
      `Object.defineProperty(Navigator.prototype, "language", { get: () => "de-CH@posix" })`,
    );
    await page.goto(`${url}#/overview`);
    await page.locator(".chart-box canvas").first().waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("de-CH");
  },
);
