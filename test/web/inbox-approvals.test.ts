/** What the inbox shows of actions that wait for a person's decision. */
import { expect, test, type TestContext } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { keyScopes, type KeyScope } from "../../src/operations/caller.ts";
import type { AgentModel } from "../../src/ports/agent-model.ts";
import { newContext } from "../support/browser/chromium.ts";
import { isLong, longTest } from "../support/runs.ts";
import {
  accessibilityFaults,
  kim,
  newShop,
  newTab,
  refundAction,
  servePage,
} from "./shop-pages.ts";

const from = "+14155550100";

interface Given {
  /** What Kim may not do. */
  readonly lacks?: readonly KeyScope[];
  readonly model?: AgentModel;
}

/** Kim has a conversation open, in which the agent Bea can ask for refunds. */
async function openConversation(skip: TestContext["skip"], { lacks = [], model }: Given = {}) {
  const refunded: string[] = [];
  const refund = refundAction((order) => void refunded.push(order));
  const agents = { model: model ?? standard().agents.model, actions: [refund] };
  const { engine, shop } = await newShop({ agents });
  const bea = await shop.agents.create({
    name: "Bea",
    channels: ["sms"],
    actions: ["refund"],
    reply: { debounce_ms: 0 },
  });
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Money back, please" });
  const ask = (order: string) =>
    shop.agents.trigger(bea.id, { conversation_id: id, action: "refund", input: { order } });
  const { account_id, mode } = shop.scope;
  const may = keyScopes.filter((scope) => !lacks.includes(scope));
  const authorize = () => ({ account_id, mode, operator: kim, may });
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  const { page, faults } = await newTab(await newContext(skip), { width: 1280, height: 800 });
  const open = async () => {
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".message", { hasText: "Money back" }).waitFor();
  };
  const bar = (order: string) =>
    page.getByRole("region", { name: "Bea asks for approval: refund" }).filter({ hasText: order });
  return { shop, bea, id, ask, refunded, url, page, faults, open, bar };
}

test("a person approves or denies in the conversation what an agent asks for", async ({ skip }) => {
  const { shop, bea, ask, refunded, page, faults, open, bar } = await openConversation(skip);
  await open();
  const composer = page.getByRole("textbox", { name: /^Reply to/ });
  const before = await composer.boundingBox();
  await ask("4711");
  await bar("4711").waitFor();
  expect(await composer.boundingBox()).toEqual(before);
  if (isLong) expect(await accessibilityFaults(page, ".conversation")).toEqual([]);
  await bar("4711").getByRole("button", { name: "Approve" }).press("Enter");
  await page.getByText("The action is approved").waitFor();
  await bar("4711").waitFor({ state: "detached" });
  await expect.poll(() => refunded).toEqual(["4711"]);
  // The focus stays in the conversation.
  expect(await page.locator(".open-pane:focus, .open-pane :focus").count()).toBe(1);

  // What began to wait before the page was opened.
  await ask("4712");
  await bar("4712").waitFor();
  await page.reload();
  await bar("4712").getByRole("button", { name: "Deny" }).click();
  await page.getByText("The action is denied").waitFor();
  await bar("4712").waitFor({ state: "detached" });

  // A colleague decides while the click is under way, and then without one.
  const { id: late } = await ask("4713");
  await bar("4713").waitFor();
  const deny = (run: string) => shop.agents.approve(bea.id, run, { decision: "deny" });
  await page.route("**/approve", async (route) => {
    await deny(late);
    await route.continue();
  });
  await bar("4713").getByRole("button", { name: "Approve" }).click();
  await page.getByText("Another person decided first").waitFor();
  await bar("4713").waitFor({ state: "detached" });
  const { id: other } = await ask("4714");
  await bar("4714").waitFor();
  await deny(other);
  await bar("4714").waitFor({ state: "detached" });
  expect(refunded).toEqual(["4711"]);
  expect(faults.filter((fault) => !fault.includes("409"))).toEqual([]);
});

test("the list marks the conversations in which actions wait, with one request for all", async ({
  skip,
}) => {
  const { shop, bea, ask, url, page, faults } = await openConversation(skip);
  const other = await shop.sandbox.inbound({ from: "+14155550101", body: "Where are you?" });
  const statusOf = async (run: string) => (await shop.agents.run(bea.id, run)).status;
  const deny = (run: string) => shop.agents.approve(bea.id, run, { decision: "deny" });
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/runs")) asked += 1;
  });
  const { id: first } = await ask("4711");
  await expect.poll(() => statusOf(first)).toBe("awaiting_approval");
  await page.goto(`${url}#/all`);
  const marked = page.getByRole("link", { name: "Needs approval" });
  await marked.waitFor();
  expect(await marked.innerText()).toContain("+1 415 555 0100");
  expect(await accessibilityFaults(page, ".list")).toEqual([]);

  // Another action of the same conversation still waits when the first is decided.
  const { id: second } = await ask("4712");
  await expect.poll(() => statusOf(second)).toBe("awaiting_approval");
  await deny(first);
  const { conversation_id } = other;
  const input = { order: "4713" };
  const third = await shop.agents.trigger(bea.id, { conversation_id, action: "refund", input });
  await expect.poll(() => marked.count()).toBe(2);
  await deny(second);
  await expect.poll(() => marked.allInnerTexts()).toEqual([expect.stringContaining("0101")]);
  await deny(third.id);
  await marked.waitFor({ state: "detached" });
  expect(asked).toBe(1);
  expect(faults).toEqual([]);
});

test("a click on a stale view does not decide about the run's next call", async ({ skip }) => {
  const model: AgentModel = {
    respond: ({ calls }) =>
      calls.length === 0
        ? { calls: ["4711", "4712"].map((order) => ({ action: "refund", input: { order } })) }
        : {},
  };
  const { shop, bea, refunded, page, open, bar } = await openConversation(skip, { model });
  const waiting = async () =>
    (await shop.agents.runs(bea.id, { status: "awaiting_approval" })).data[0];
  await open();
  await bar("4711").waitFor();
  // What waits after it is there to see.
  await bar("4711").getByRole("listitem").getByText("4712").waitFor();
  expect(await bar("4711").getByRole("button").count()).toBe(2);
  await page.route("**/approve", async (route) => {
    const run = await waiting();
    await shop.agents.approve(bea.id, run?.id ?? "", { decision: "deny" });
    await expect.poll(async () => (await waiting())?.approval?.input).toEqual({ order: "4712" });
    await route.continue();
  });
  await bar("4711").getByRole("button", { name: "Approve" }).click();
  await page.getByText("Another person decided first").waitFor();
  await bar("4711").waitFor({ state: "detached" });
  await bar("4712").waitFor();
  expect((await waiting())?.approval).toMatchObject({ input: { order: "4712" } });

  await page.unroute("**/approve");
  await bar("4712").getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => refunded).toEqual(["4712"]);
});

longTest("who may not decide sees what waits, if they may see runs", async ({ skip }) => {
  const reader = await openConversation(skip, { lacks: ["agents:trigger"] });
  await reader.ask("4711");
  await reader.open();
  await reader.bar("4711").waitFor();
  expect(await reader.bar("4711").getByRole("button").count()).toBe(0);

  const other = await openConversation(skip, { lacks: ["agents:read", "agents:trigger"] });
  await other.open();
  await other.ask("4711");
  // A later event has come, so the one before has, too.
  await other.shop.sandbox.inbound({ from, body: "Hello?" });
  await other.page.locator(".message", { hasText: "Hello?" }).waitFor();
  expect(await other.bar("4711").count()).toBe(0);
  expect(other.faults).toEqual([]);
});

longTest("an approval that the engine refuses says why, and can be denied", async ({ skip }) => {
  const { shop, bea, id, page, open, bar } = await openConversation(skip);
  const { id: playbook_id } = await shop.playbooks.create({
    name: "Refund",
    enabled: true,
    steps: [{ id: "refund", type: "run", action: "refund", args: { order: "4711" } }],
  });
  await shop.agents.trigger(bea.id, { conversation_id: id, playbook_id });
  await open();
  await bar("4711").waitFor();
  await shop.conversations.assign(id, { type: "human", id: kim.id });
  await bar("4711").getByRole("button", { name: "Approve" }).click();
  await page.getByText("Hand it back first.").waitFor();
  await bar("4711").getByRole("button", { name: "Deny" }).click();
  await bar("4711").waitFor({ state: "detached" });
});

longTest(
  "on a phone, long inputs can be read, and leave room for the thread and the composer",
  async ({ skip }) => {
    const { ask, page, open, bar } = await openConversation(skip);
    await page.setViewportSize({ width: 390, height: 700 });
    await open();
    for (const order of ["first", "second"]) {
      await ask(`${order} ${"with a very long name ".repeat(60)}`);
      await bar(order).waitFor();
    }
    const heightOf = async (part: string) => (await page.locator(part).boundingBox())?.height;
    expect(await heightOf(".thread-box")).toBeGreaterThan(80);
    const send = page.getByRole("button", { name: "Send", exact: true });
    const { y = 0, height = 0 } = (await send.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(700);
    await bar("second").getByRole("button", { name: "Approve" }).click();
    await bar("second").waitFor({ state: "detached" });
    expect(await accessibilityFaults(page, ".conversation")).toEqual([]);
  },
);
