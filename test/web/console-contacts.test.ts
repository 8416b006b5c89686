/** The console names contacts, hides those that were erased, and follows opt-outs. */
import type { APIResponse, Page } from "playwright-core";
import { expect } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { keyScopes } from "../../src/operations/caller.ts";
import { newContext } from "../support/browser/chromium.ts";
import { isLong, longTest } from "../support/runs.ts";
import { kim, newShop, newTab, openConsole, refundAction, servePage } from "./shop-pages.ts";

const number = "+15005550001";

/** A shop with two contacts. One has a name, and a run that waits for an approval. */
async function shopWithContacts() {
  const { agents } = standard();
  const made = await newShop({ agents: { ...agents, actions: [refundAction(() => {})] } });
  const { shop } = made;
  await shop.contacts.create({ phone: number, name: "Ann Keller" });
  const first = await shop.sandbox.inbound({ from: number, body: "I like kumquats." });
  await shop.sandbox.inbound({ from: "+15005550009", body: "Hello" });
  const agent = await shop.agents.create({ name: "Bea", instructions: "Help.", channels: ["sms"] });
  const { conversation_id } = first;
  const input = { order: "A-1" };
  const run = await shop.agents.trigger(agent.id, { conversation_id, action: "refund", input });
  return { ...made, agent, run, ...first };
}

const row = (page: Page, text: string) => page.getByRole("row", { name: text });

longTest(
  "the console names contacts in its tables and on its pages, with one request for a table",
  async ({ skip }) => {
    const { engine, shop, authorize, agent, run, contact_id, id } = await shopWithContacts();
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const { page, faults } = await newTab(await newContext(skip));
    const asked: string[] = [];
    page.on("request", (request) => {
      if (/v1\/(contacts|conversations)/.test(request.url())) asked.push(request.url());
    });
    await page.goto(`${url}#/messages`);
    await row(page, "kumquats").getByText("Ann Keller").waitFor();
    await row(page, "kumquats").getByText("+1 500 555 0001").waitFor();
    await row(page, "Hello").getByText("+1 500 555 0009", { exact: true }).waitFor();
    expect(asked).toHaveLength(1);

    await shop.contacts.update(contact_id, { name: "Ann Kell" });
    await row(page, "kumquats").getByText("Ann Kell", { exact: true }).waitFor();

    await page.goto(`${url}#/messages/${id}`);
    await page.getByRole("heading", { name: "From Ann Kell" }).waitFor();
    await page.getByRole("link", { name: "Ann Kell" }).click();
    await row(page, "kumquats").getByText("Ann Kell").waitFor();
    expect(page.url()).toContain(contact_id);

    await page.goto(`${url}#/agents`);
    await row(page, "refund").getByText("Ann Kell").waitFor();
    await page.goto(`${url}#/agents/${agent.id}`);
    await row(page, "API").getByText("Ann Kell").waitFor();
    await page.goto(`${url}#/agents/${agent.id}/${run.id}`);
    // The page of a run also names the contact when it is the first that the console shows.
    await page.reload();
    await page.locator(".fact", { hasText: "Contact" }).getByText("Ann Kell").waitFor();
    expect(faults).toEqual([]);
  },
);

longTest(
  "the number stands for a contact whose name has no visible character",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    await shop.contacts.create({ phone: number, name: "\u200b\u2800" });
    await shop.sandbox.inbound({ from: number, body: "Hello" });
    const shown = "+1 500 555 0001";
    await page.goto(`${url}#/events`);
    for (const type of ["contact.created", "conversation.created"]) {
      await page.locator(".event-row", { hasText: type }).getByText(shown).waitFor();
    }
    await page.goto(`${url}#/phones`);
    const phone = page.getByRole("region", { name: `Phone ${number}` }).locator(".handset-name");
    await phone.locator("strong").getByText(shown).waitFor();
    expect(await phone.innerText()).not.toContain("·");
  },
);

longTest(
  "a person who may not read conversations sees the numbers of contacts",
  async ({ skip }) => {
    const { engine, shop } = await shopWithContacts();
    const { account_id, mode } = shop.scope;
    const may = keyScopes.filter((scope) => scope !== "conversations:read");
    const authorize = () => ({ account_id, mode, operator: kim, may });
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const { page, faults } = await newTab(await newContext(skip));
    await page.goto(`${url}#/messages`);
    await row(page, "kumquats").getByText("+1 500 555 0001").waitFor();
    await page.goto(`${url}#/agents`);
    await row(page, "refund").waitFor();
    expect(faults).toEqual([]);
  },
);

longTest(
  "contacts that are not among the latest are not asked for again with each event",
  async ({ skip }) => {
    const { engine, shop, authorize, agent } = await shopWithContacts();
    const receive = (i: number) =>
      shop.sandbox.inbound({ from: `+1500555${1000 + i}`, body: `Message ${i}` });
    // As many as the page reads, so that the contact of the approval is not among them.
    for (let i = 0; i < 100; i++) await receive(i);
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const { page } = await newTab(await newContext(skip));
    const asked = { runs: 0, contacts: 0 };
    page.on("request", (request) => {
      if (request.url().includes("/runs?")) asked.runs++;
      if (request.url().includes("v1/conversations")) asked.contacts++;
    });
    await page.goto(`${url}#/agents`);
    await row(page, "refund").waitFor();
    for (const times of [2, 3]) {
      const { conversation_id } = await receive(times);
      const input = { order: `A-${times}` };
      await shop.agents.trigger(agent.id, { conversation_id, action: "refund", input });
      await row(page, `A-${times}`).waitFor();
      await expect.poll(() => asked.runs).toBeGreaterThanOrEqual(times);
    }
    expect(asked.contacts).toBe(1);
  },
);

/**
 * Gives the first response to each of these requests again and again, like one that was read before
 * an erasure and arrives after it.
 */
async function repeatResponses(page: Page, of: RegExp): Promise<void> {
  const first = new Map<string, Promise<APIResponse>>();
  await page.route(of, async (route) => {
    const url = route.request().url();
    const response = first.get(url) ?? route.fetch();
    first.set(url, response);
    await route.fulfill({ response: await response });
  });
}

longTest(
  "the runs and approvals of an erased contact leave the console at once",
  async ({ skip }) => {
    const { engine, shop, authorize, agent, run, contact_id } = await shopWithContacts();
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const context = await newContext(skip);
    const open = async (path: string): Promise<Page> => {
      const { page } = await newTab(context);
      await repeatResponses(page, /\/runs/);
      await page.goto(`${url}#/${path}`);
      await page.getByText("Ann Keller").first().waitFor();
      return page;
    };
    const approvals = await open("agents");
    const runs = isLong ? await open(`agents/${agent.id}`) : undefined;
    const one = await open(`agents/${agent.id}/${run.id}`);

    await shop.contacts.erase(contact_id);

    await expect.poll(() => approvals.getByText("refund").count()).toBe(0);
    if (runs) await expect.poll(() => runs.getByText("Ann Keller").count()).toBe(0);
    await one.getByText("The contact of this run was erased").waitFor();
  },
);

longTest(
  "a run of an erased contact leaves the console of a person who may not read conversations",
  async ({ skip }) => {
    const { engine, shop, agent, run, contact_id } = await shopWithContacts();
    const { account_id, mode } = shop.scope;
    const may = keyScopes.filter((scope) => scope !== "conversations:read");
    const authorize = () => ({ account_id, mode, operator: kim, may });
    const { url } = await servePage(consoleHandler(engine, { authorize }));
    const context = await newContext(skip);
    const [{ page: runs }, { page: one }] = [await newTab(context), await newTab(context)];
    await runs.goto(`${url}#/agents/${agent.id}`);
    await one.goto(`${url}#/agents/${agent.id}/${run.id}`);
    await row(runs, "API").waitFor();
    await one.getByText("refund").first().waitFor();

    await shop.contacts.erase(contact_id);

    await row(runs, "API").waitFor({ state: "detached" });
    // The page does not know whose run it was: it may also have been removed because it was old.
    await one.getByText("This run no longer exists").waitFor();
    expect(await one.getByText("refund").count()).toBe(0);
  },
);

longTest(
  "the list of contacts who have opted out follows opt-outs and opt-ins",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openConsole(skip);
    const ann = page.getByRole("link", { name: "Ann Keller" });
    const { id } = await shop.contacts.create({ phone: number, name: "Ann Keller" });
    await page.goto(`${url}#/access/consent`);
    await page.getByText("Nobody").waitFor();
    await shop.sandbox.inbound({ from: number, body: "STOP" });
    await ann.getByText("Opted out").waitFor();

    await page.getByRole("searchbox").fill("Keller");
    await page.getByRole("heading", { name: "Found" }).waitFor();
    await ann.getByText("Opted out").waitFor();
    await shop.contacts.setConsent(id, "text", { status: "opted_in", detail: "By phone" });
    await ann.getByText("Opted out").waitFor({ state: "detached" });

    await page.getByRole("searchbox").fill("");
    await page.getByText("Nobody").waitFor();
    expect(faults).toEqual([]);
  },
);
