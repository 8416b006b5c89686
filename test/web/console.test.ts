/** The console in a real browser, over a real engine. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { expect, test, type TestContext } from "vitest";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { standard } from "../../adapters/standard.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { consoleHandler, type PageMount } from "../../adapters/web/console/server/index.ts";
import { scratch } from "../cli/tidings.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf, show } from "./faults.ts";
import { newReceiver } from "./receiver.ts";
import {
  accessibilityFaults,
  newTab,
  openConsole,
  refundAction,
  servePage,
  startEngine,
} from "./shop-pages.ts";

/** `npm test` looks for such faults in `console-pages.test.ts` alone. */
async function expectAccessible(page: Page): Promise<void> {
  if (isLong) expect(await accessibilityFaults(page)).toEqual([]);
}

test("a phone on screen texts, gets messages with their states, and opts out", async ({ skip }) => {
  const { shop, url, page, faults } = await openConsole(skip);
  await page.goto(url);
  const phone = page.getByRole("region", { name: "Phone +15005550001" });
  await phone.getByText("No messages.").waitFor();
  await expect.poll(() => page.locator(".test-number").count()).toBe(20);

  const hostile = `<img src=x onerror="alert(1)"> \u202Ejavascript:alert(2)`;
  await phone.getByRole("textbox").fill(hostile);
  await phone.getByRole("textbox").press("Enter");
  await phone.locator(".text.is-own", { hasText: "<img src=x" }).waitFor();
  expect((await shop.messages.list()).data.map(({ body }) => body)).toEqual([hostile]);

  await phone.getByRole("button", { name: "Account" }).click();
  await phone.getByRole("textbox").fill("Your order is here.");
  await phone.getByRole("button", { name: "Send" }).click();
  await phone.getByRole("link", { name: /Delivered/ }).waitFor();
  await shop.messages.send({ to: "+15005550001", body: "From a program" });
  await phone.getByText("From a program").waitFor();

  await phone.getByRole("button", { name: "STOP" }).click();
  await phone.getByText("Opted out", { exact: true }).waitFor();
  await phone.getByRole("textbox").fill("One more thing");
  await phone.getByRole("button", { name: "Send" }).click();
  await phone.getByRole("alert").waitFor();
  expect(await phone.getByRole("textbox").inputValue()).toBe("One more thing");
  await expectAccessible(page);
  // The browser reports the refused message by itself.
  expect(faults).toEqual([expect.stringContaining("status of 422")]);
});

longTest(
  "a phone on screen shows what is sent from it, however far back it is scrolled",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    for (let i = 0; i < 15; i++) {
      await shop.sandbox.inbound({ from: "+15005550001", body: `Text ${i}` });
    }
    await page.goto(url);
    const phone = page.getByRole("region", { name: "Phone +15005550001" });
    await phone.getByText("Text 14").waitFor();
    await page.evaluate("document.querySelector('.handset-screen').scrollTop = 0");
    await phone.getByText("Text 0").waitFor();
    await phone.getByRole("textbox").fill("One more");
    await phone.getByRole("textbox").press("Enter");
    await phone.getByText("One more").waitFor();
    const left = `(({ scrollHeight, scrollTop, clientHeight }) =>
    scrollHeight - scrollTop - clientHeight)(document.querySelector(".handset-screen"))`;
    await expect.poll(() => page.evaluate(left)).toBeLessThan(2);
  },
);

test("a message's timeline has its attempts, its ignored receipts with the reason, and what comes next", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  await shop.messages.send({ to: "+15005550010", body: "Receipts come twice" });
  const retried = await shop.messages.send({ to: "+15005550008", body: "Carrier errors" });
  await page.goto(`${url}#/messages`);
  await page.getByRole("link", { name: "Receipts come twice" }).click();
  await page.getByText("The same receipt came before.").first().waitFor();
  await page.getByText("Attempt 1 over sandbox: accepted").waitFor();
  expect(await page.locator(".timeline-dot.is-ignored").count()).toBeGreaterThan(0);
  await expectAccessible(page);

  await show(page, `#/messages/${retried.id}`);
  await page.getByText("Attempt 1 over sandbox: rejected, not sent").waitFor();
  await page.getByText("Next attempt is due").waitFor();
});

test("the tail shows events as they happen, waits while it is paused, and has their payloads", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  await page.goto(`${url}#/events`);
  await page.getByText("No events").waitFor();
  await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
  const row = page.locator(".event-row");
  await row.filter({ hasText: "Ann Keller" }).waitFor();

  await page.getByRole("button", { name: "Pause" }).click();
  await shop.contacts.create({ phone: "+14155550101", name: "Bo Larsen" });
  await page.getByRole("button", { name: "Show 1 new event" }).waitFor();
  expect(await row.count()).toBe(1);
  await page.getByRole("button", { name: "Resume" }).click();
  await row.filter({ hasText: "Bo Larsen" }).waitFor();

  await page.getByRole("searchbox", { name: "Contains" }).fill("+14155550100");
  await expect.poll(() => row.count()).toBe(1);
  await row.click();
  await page.getByRole("region", { name: "Payload" }).getByText(`"Ann Keller"`).waitFor();
  await expectAccessible(page);

  // On a phone the payload takes the place of the list.
  const focused = `document.activeElement.getAttribute("aria-label") ?? document.activeElement.className`;
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goBack();
  await expect.poll(() => page.evaluate(focused)).toBe("event-row");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate(focused)).toBe("Event");
});

longTest("a secret is shown once, also on a small screen", async ({ skip }) => {
  const { url, page, faults } = await openConsole(skip, { size: { width: 320, height: 640 } });
  await page.goto(`${url}#/access/keys`);
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Order service");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.locator(".secret", { hasText: /^tdg_test_\w{38}$/ }).waitFor();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("Order service").waitFor();
  expect(await page.getByText(/tdg_test_\w{38}/).count()).toBe(0);
  expect(faults).toEqual([]);
});

test("an agent's form has a problem beside its field, keeps what was typed, and saves versions", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  await page.goto(`${url}#/agents`);
  await page.getByRole("button", { name: "New agent" }).click();
  const field = (name: string) => page.getByRole("textbox", { name });
  await field("Name").fill("Ada");
  await field("Instructions").fill("Be brief.");
  await field("Time of a turn (ms)").fill("soon");
  await page.getByRole("button", { name: "Create agent" }).click();
  const time = page.locator(".field", { has: field("Time of a turn (ms)") });
  await time.locator(".field-problem", { hasText: "must be a number" }).waitFor();
  expect(await field("Time of a turn (ms)").getAttribute("aria-invalid")).toBe("true");
  await expectAccessible(page);

  await page.reload();
  await page.getByText("What you typed earlier and did not save is back.").waitFor();
  expect(await field("Instructions").inputValue()).toBe("Be brief.");
  await field("Time of a turn (ms)").fill("30000");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: "Ada" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await field("Role").fill("host");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await page.getByText("The agent is saved as version 2").waitFor();
  const [ada] = (await shop.agents.list()).data;
  expect(ada).toMatchObject({ version: 2, persona: { role: "host" }, instructions: "Be brief." });
  expect(ada?.limits).toMatchObject({ timeout_ms: 30_000, max_ai_turns: 20 });
});

longTest(
  "a playbook's graph follows its steps, marks wrong ones, and shows where a run waits",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const survey = await shop.playbooks.create({
      name: "Survey",
      enabled: true,
      trigger: { keywords: ["survey"] },
      slots: [{ name: "mark", type: "number", required: true, prompt: "From 1 to 5?" }],
      steps: [
        { id: "hello", type: "send", text: "Gladly." },
        { id: "ask", type: "ask", slot: "mark" },
      ],
    });
    await page.goto(`${url}#/agents/playbooks/${survey.id}/edit`);
    const graph = page.getByRole("region", { name: "Graph of the steps" });
    await expect.poll(() => graph.getByRole("button").count()).toBe(2);
    await page.getByRole("button", { name: "Add step" }).click();
    await page.getByRole("menuitem", { name: "Resolve" }).click();
    await expect.poll(() => graph.getByRole("button").count()).toBe(3);
    // The new step follows the open first one, and nothing leads to the last one.
    await page.getByRole("button", { name: "Save as version 2" }).click();
    const faulty = page.locator(".step-card.is-faulty", { hasText: "ask" });
    await faulty.getByText("No other step leads to this step.").waitFor();
    await graph.locator(".graph-node.is-faulty", { hasText: "ask" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Step resolve" }).click();
    await page.getByRole("menuitem", { name: "Move down" }).click();
    await page.getByRole("button", { name: "Save as version 2" }).click();
    await page.getByText("The playbook is saved as version 2").waitFor();

    const agent = await shop.agents.create({
      name: "Ada",
      channels: ["sms"],
      playbook_ids: [survey.id],
      reply: { debounce_ms: 0 },
    });
    await shop.sandbox.inbound({ from: "+15005550101", body: "survey please" });
    await show(page, `#/agents/${agent.id}`);
    const run = page.getByRole("row", { name: "Message of the contact" });
    await run.getByText("Survey").waitFor();
    await run.getByRole("link").click();
    await page.getByText("Waits for the answer").waitFor();
    await page.getByText("survey please").waitFor();
    await page.locator(".graph-node.is-current", { hasText: "ask" }).waitFor();
    await page.locator(".graph-node.is-entered", { hasText: "hello" }).waitFor();
    expect(await page.locator(".graph-edge.is-taken").count()).toBe(1);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Survey", exact: true }).waitFor();

    await page.getByRole("link", { name: /^msg_/ }).last().click();
    await page.getByText("agent · Ada").waitFor();
    await page.getByRole("link", { name: "Ada", exact: true }).click();
    await page.getByRole("heading", { name: "Ada", exact: true }).waitFor();
  },
);

longTest(
  "what a person typed outlives an ended session, and a server that starts again on its file",
  async ({ skip }) => {
    const storage = () => sqlite({ file: join(folder, "shop.db") });
    const folder = await scratch();
    const engine = await startEngine({ storage: storage() });
    const mounted = consoleHandler(engine);
    const server = await servePage(mounted);
    const context = await newContext(skip);
    const { page } = await newTab(context);
    const signIn = async ({ token = "" }: PageMount): Promise<void> => {
      const dialog = page.getByRole("dialog", { name: "Sign in" });
      await dialog.getByLabel("Token").fill(token);
      await dialog.getByRole("button", { name: "Sign in" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await page.goto(`${server.url}#/webhooks`);
    await signIn(mounted);
    await page.getByRole("button", { name: "Add webhook" }).first().click();
    const form = page.getByRole("dialog", { name: "Add webhook" });
    const address = form.getByRole("textbox", { name: "Address" });
    const add = form.getByRole("button", { name: "Add", exact: true });
    await address.fill("https://shop.example/hooks");
    const [cookie] = await context.cookies();
    if (cookie === undefined) expect.fail("There is no cookie.");
    await context.addCookies([{ ...cookie, value: "of an earlier start" }]);
    await add.click();
    await page.getByText("Your session has ended. What you typed is kept.").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await signIn(mounted);
    expect(await address.inputValue()).toBe("https://shop.example/hooks");

    server.stop();
    await engine.stop();
    await add.click();
    await form.getByRole("alert").getByText("The server does not respond.").waitFor();
    await page.getByText("Not connected").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const successor = await startEngine({ storage: storage() });
    const mountedAgain = consoleHandler(successor);
    server.restart(mountedAgain);
    await signIn(mountedAgain);
    await add.click();
    await page.getByText("The webhook is added").waitFor();
    expect((await successor.webhooks.list()).data.map(({ url }) => url)).toEqual([
      "https://shop.example/hooks",
    ]);
  },
);

longTest(
  "an approval shows what it is about, also after an action that returned nothing",
  async ({ skip }) => {
    const refunded: string[] = [];
    const refund = refundAction((order) => void refunded.push(order));
    const { agents } = standard();
    const { shop, url, page } = await openConsole(skip, {
      options: { agents: { ...agents, actions: [refund] } },
    });
    const steps = ["4711", "4712"].map((order) => ({
      id: `refund_${order}`,
      type: "run" as const,
      action: "refund",
      args: { order },
    }));
    const playbook = await shop.playbooks.create({ name: "Refund both", enabled: true, steps });
    const agent = await shop.agents.create({ name: "Bea", channels: ["sms"] });
    const { contact_id } = await shop.sandbox.inbound({ from: "+14155550100", body: "Hello" });
    const asked = { contact_id, playbook_id: playbook.id };
    const { id } = await shop.agents.trigger(agent.id, asked);
    await page.goto(`${url}#/agents/${agent.id}/${id}`);
    const approval = page.getByRole("region", { name: "Waits for your decision" });
    for (const order of ["4711", "4712"]) {
      await approval.getByText(`"${order}"`).waitFor();
      await approval.getByRole("button", { name: "Approve" }).click();
      await expect.poll(() => refunded.at(-1)).toBe(order);
    }
  },
);

longTest(
  "an action runs when a person approves it, and not when it is denied",
  async ({ skip }) => {
    const refunded: string[] = [];
    const refund = refundAction((order) => void refunded.push(order));
    const { agents } = standard();
    const { shop, url, page } = await openConsole(skip, {
      options: { agents: { ...agents, actions: [refund] } },
    });
    const agent = await shop.agents.create({ name: "Bea", channels: ["sms"] });
    for (const [i, order] of ["4711", "4712"].entries()) {
      const from = `+1415555010${i}`;
      const { conversation_id } = await shop.sandbox.inbound({ from, body: "Money back, please" });
      await shop.agents.trigger(agent.id, { conversation_id, action: "refund", input: { order } });
    }
    const decide = async (order: string, button: string, said: string): Promise<void> => {
      await page.getByRole("row", { name: order }).getByRole("link").click();
      const approval = page.getByRole("region", { name: "Waits for your decision" });
      await approval.getByText(`"${order}"`).waitFor();
      await approval.getByRole("button", { name: button }).click();
      await page.getByText(said).waitFor();
      await approval.waitFor({ state: "detached" });
      await page
        .locator(".timeline-row", { hasText: button === "Deny" ? "Denied" : "Approved" })
        .waitFor();
      await show(page, "#/agents");
    };
    await page.goto(`${url}#/agents`);
    await decide("4711", "Approve", "The action is approved");
    await decide("4712", "Deny", "The action is denied");
    await page.getByRole("row", { name: "Bea" }).waitFor();
    await page.getByRole("region", { name: "Waiting for approval" }).waitFor({ state: "detached" });
    expect(refunded).toEqual(["4711"]);
  },
);

/** The console of a shop with a webhook, and what receives its events. */
async function openWebhook(skip: TestContext["skip"]) {
  const { http } = standard();
  const { engine, shop, url, page } = await openConsole(skip, {
    options: { http: { ...http, allow: ["127.0.0.1"] } },
  });
  const receiver = await newReceiver();
  const { id: webhook } = await shop.webhooks.create({ url: receiver.url, events: ["*"] });
  const dialog = page.getByRole("dialog");
  const pick = async (menu: string, item: string): Promise<void> => {
    await page.getByRole("button", { name: menu }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  return { engine, shop, receiver, webhook, url, page, dialog, pick };
}

longTest("webhooks are tested, redelivered and recovered", async ({ skip }) => {
  const { receiver, webhook, url, page, dialog, pick } = await openWebhook(skip);
  const slow = Promise.withResolvers<{ status: number }>();
  receiver.answer(slow.promise);
  await page.goto(`${url}#/webhooks/${webhook}`);
  await page.getByRole("button", { name: "Send test event" }).click();
  await dialog.getByRole("combobox").selectOption("message.failed");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("The test event is on its way").waitFor();
  await page.getByRole("row", { name: "message.failed Pending" }).waitFor();
  slow.resolve({ status: 500 });
  await page.getByRole("row", { name: "message.failed Failed 500" }).waitFor();
  await page.getByRole("link", { name: "message.failed" }).click();
  await page.getByRole("button", { name: "Redeliver" }).click();
  await page.getByText("Attempt 2").waitFor();
  receiver.answer({ status: 204 });
  await page.getByRole("link", { name: "Webhook", exact: true }).click();
  await pick("More actions", "Recover failed deliveries");
  await dialog.getByLabel("Since").fill("2020-01-01T00:00");
  await dialog.getByRole("button", { name: "Recover" }).click();
  await page.getByRole("row", { name: "message.failed Succeeded 204" }).waitFor();
  expect(receiver.received).toHaveLength(3);
});

longTest("secrets of webhooks and keys are rotated, and keys revoked", async ({ skip }) => {
  const { engine, shop, receiver, webhook, url, page, dialog, pick } = await openWebhook(skip);
  const { secret: first } = await shop.apiKeys.create({ name: "Order service" });
  /** The secret in the dialog, which no page shows again. */
  const shownOnce = async (): Promise<string> => {
    const shown = await dialog.locator(".secret code").innerText();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await page.reload();
    await page.locator(".table").first().waitFor();
    expect(await page.content()).not.toContain(shown);
    return shown;
  };

  // The page has a table once there is a delivery.
  await shop.webhooks.test(webhook);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await page.goto(`${url}#/webhooks/${webhook}`);
  await pick("More actions", "Rotate secret");
  await dialog.getByRole("button", { name: "Rotate" }).click();
  const verifier = new Webhook(await shownOnce());
  await shop.webhooks.test(webhook);
  const latest = await eventually(() => receiver.received[1] ?? expect.fail("Nothing came."));
  expect(verifier.verify(latest.body, latest.headers)).toMatchObject({ data: {} });

  const api = fetchHandler(engine);
  const accepts = async (secret: string | null): Promise<boolean> => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await api(new Request("http://localhost/v1/account", { headers }))).ok;
  };
  expect(await accepts(first)).toBe(true);
  await show(page, "#/access/keys");
  await pick("Actions of Order service", "Rotate the secret");
  await dialog.getByRole("combobox").selectOption("Not at all");
  await dialog.getByRole("button", { name: "Rotate" }).click();
  const second = await shownOnce();
  await eventually(async () =>
    expect([await accepts(first), await accepts(second)]).toEqual([false, true]),
  );
  await pick("Actions of Order service", "Revoke");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("row", { name: "Order service" }).getByText("Revoked").waitFor();
  await eventually(async () => expect(await accepts(second)).toBe(false));
});
