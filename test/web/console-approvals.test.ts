/** The console's list of the actions that wait for a person's decision. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import type { AgentModel } from "../../src/ports/agent-model.ts";
import { newContext } from "../support/browser/chromium.ts";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { accessibilityFaults, newShop, newTab, refundAction, servePage } from "./shop-pages.ts";

/** A shop whose agents can ask for refunds, each in a conversation of its own. */
async function openShop(skip: TestContext["skip"], model?: AgentModel) {
  const refunded: string[] = [];
  const actions = [refundAction((order) => void refunded.push(order))];
  const { engine, shop, authorize } = await newShop({
    agents: { model: model ?? standard().agents.model, actions },
  });
  const hire = async (name: string) =>
    (
      await shop.agents.create({
        name,
        channels: ["sms"],
        actions: ["refund"],
        reply: { debounce_ms: 0 },
        limits: { max_triggers_per_minute: 1_000 },
      })
    ).id;
  /** Returns the run, which waits. */
  const ask = async (agent: string, order: number): Promise<string> => {
    const { id: contact_id } = await shop.contacts.create({ phone: `+1415555${1_000 + order}` });
    const input = { order: `order ${order}` };
    const run = await shop.agents.trigger(agent, { contact_id, action: "refund", input });
    const status = async () => (await shop.agents.run(agent, run.id)).status;
    await expect.poll(status, { interval: 5 }).toBe("awaiting_approval");
    return run.id;
  };
  const { url } = await servePage(consoleHandler(engine, { authorize }));
  const { page, faults } = await newTab(await newContext(skip));
  return { shop, hire, ask, refunded, page, faults, open: () => page.goto(`${url}#/agents`) };
}

/** The orders of the actions in the table, in its order. */
async function ordersOf(page: Page): Promise<unknown[]> {
  const table = page.getByRole("region", { name: "Waiting for approval" });
  const inputs = await table.locator(".approval-input").allTextContents();
  return inputs.map((input) => (JSON.parse(input) as { readonly order: unknown }).order);
}

const counted = (page: Page, count: string) =>
  page.getByRole("heading", { name: `Waiting for approval ${count}`, exact: true });

test("the console lists the waiting actions of all agents, the longest wait first, live", async ({
  skip,
}) => {
  const { shop, hire, ask, page, faults, open } = await openShop(skip);
  const runs = new Map<number, { readonly agent: string; readonly run: string }>();
  const begin = async (order: number): Promise<void> => {
    const agent = await hire(`Agent ${order}`);
    runs.set(order, { agent, run: await ask(agent, order) });
  };
  const last = isLong ? 22 : 4;
  const orders = Array.from({ length: last }, (_, n) => n + 1);
  for (const order of orders) await begin(order);
  await shop.agents.remove(runs.get(1)?.agent ?? "");
  await open();
  await counted(page, `${last}`).waitFor();
  expect(await ordersOf(page)).toEqual(orders.map((order) => `order ${order}`));
  await page
    .getByRole("row", { name: `order ${last}` })
    .getByText(`Agent ${last}`)
    .waitFor();
  expect(await accessibilityFaults(page, ".card")).toEqual([]);

  await begin(last + 1);
  await counted(page, `${last + 1}`).waitFor();
  const { agent = "", run = "" } = runs.get(2) ?? {};
  await shop.agents.approve(agent, run, { decision: "deny" });
  await counted(page, `${last}`).waitFor();
  const left = [1, ...orders.slice(2), last + 1];
  expect(await ordersOf(page)).toEqual(left.map((order) => `order ${order}`));
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
});

test("the console asks for the names of all agents at once, and not again", async ({ skip }) => {
  const { hire, ask, page, open } = await openShop(skip);
  const [bea, cal] = [await hire("Bea".repeat(25)), await hire("Cal")];
  await ask(bea, 1);
  await ask(cal, 2);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.includes("/v1/agents")) asked.push(pathname.replace(/.*v1/, "v1") + search);
  });
  await open();
  await page.getByRole("row", { name: "order 2" }).getByText("Cal").waitFor();
  await ask(bea, 3);
  await page.getByRole("row", { name: "order 3" }).getByText("Bea").waitFor();
  expect(await faultsOf(page, ".card")).toEqual([]);
  // The other list is that of the page.
  expect(asked.toSorted()).toEqual(["v1/agents?limit=100", "v1/agents?limit=50"]);
});

longTest("the console says that more wait than it shows, and shows more", async ({ skip }) => {
  const { hire, ask, page, open } = await openShop(skip);
  const bea = await hire("Bea");
  for (let order = 0; order < 101; order++) await ask(bea, order);
  await open();
  await counted(page, "100+").waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  await counted(page, "101").waitFor();
  expect((await ordersOf(page)).at(-1)).toBe("order 100");
});

longTest(
  "the console says that the waiting actions could not be read, and reads them with another try",
  async ({ skip }) => {
    const { hire, ask, page, open } = await openShop(skip);
    await ask(await hire("Bea"), 1);
    await page.route(/v1[/]runs[?]/, (route) => route.fulfill({ status: 500, json: {} }));
    await open();
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await again.click();
    await counted(page, "1").waitFor();
    expect(await again.count()).toBe(0);
  },
);

test("the console lists each action that one run waits for, and its page their order", async ({
  skip,
}) => {
  const orders = ["order 1", "order 2"];
  const model: AgentModel = {
    respond: ({ calls }) =>
      calls.length === 0
        ? { calls: orders.map((order) => ({ action: "refund", input: { order } })) }
        : {},
  };
  const { shop, hire, refunded, page, open } = await openShop(skip, model);
  await hire("Bea");
  await open();
  await shop.sandbox.inbound({ from: "+14155550100", body: "Both, please" });
  await counted(page, "2").waitFor();
  expect(await ordersOf(page)).toEqual(orders);
  await page.getByRole("row", { name: "order 2" }).getByRole("link").click();
  const bar = page.getByRole("region", { name: "Waits for your decision: refund" });
  await bar.getByRole("listitem").getByText("order 2").waitFor();
  await bar.getByRole("button", { name: "Deny" }).click();
  await bar.getByRole("listitem").waitFor({ state: "detached" });
  await bar.getByText("order 2").waitFor();
  await bar.getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => refunded).toEqual(["order 2"]);
});
