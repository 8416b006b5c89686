/** Changes that other people and programs make while a person works in the console. */
import { expect } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { system } from "../../adapters/system/index.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { show } from "./faults.ts";
import { holdAnswers } from "./hold-answers.ts";
import { newReceiver } from "./receiver.ts";
import { openConsole } from "./shop-pages.ts";

longTest(
  "a key that is created before the list of keys has arrived stays in the list",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    await shop.apiKeys.create({ name: "Till", scopes: ["messages:read"] });
    const first = { which: "reads", times: 1 } as const;
    const { arrived, release } = await holdAnswers(page, /v1\/api-keys\?/, first);
    await page.goto(`${url}#/access/keys`);
    await arrived;
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Reports");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await release();
    await page.getByRole("row", { name: "Till" }).waitFor();
    expect(await page.getByRole("row", { name: "Reports" }).count()).toBe(1);
  },
);

longTest("a change of a sender leaves what a colleague has changed meanwhile", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip);
  const sender = async () => (await shop.senders.list()).data[0] ?? expect.fail("No sender.");
  const { id, address, channels } = await sender();
  await page.goto(`${url}#/access/senders`);
  await page.getByRole("button", { name: `Actions of ${address}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Messages per second" }).fill("3");
  await shop.senders.update(id, { daily_cap: 500, pool: true });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await sender()).toMatchObject({
    channels,
    daily_cap: 500,
    pool: true,
    messages_per_second: 3,
  });
});

longTest(
  "a change of a webhook leaves what a colleague has changed meanwhile",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const { id } = await shop.webhooks.create({
      url: "https://shop.example/till",
      events: ["contact.created"],
    });
    await page.goto(`${url}#/webhooks/${id}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Description").fill("Till");
    await shop.webhooks.update(id, { events: ["message.sent"], ordering: "fifo" });
    // The page behind the dialog reads the webhook again.
    const isRead = page.waitForResponse((response) =>
      response.url().endsWith(`/v1/webhooks/${id}`),
    );
    await shop.contacts.create({ phone: "+14155550100" });
    await isRead;
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await shop.webhooks.get(id)).toMatchObject({
      description: "Till",
      events: ["message.sent"],
      ordering: "fifo",
    });
  },
);

longTest(
  "an agent's form that is opened again leaves what a colleague has changed since",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const { id } = await shop.agents.create({ name: "Ada", channels: ["sms"] });
    const role = page.getByRole("textbox", { name: "Role" });
    await page.goto(`${url}#/agents/${id}/edit`);
    await role.fill("host");
    await shop.agents.update(id, { name: "Bea" });
    await page.reload();
    await page.getByText("What you typed earlier and did not save is back.").waitFor();
    expect(await role.inputValue()).toBe("host");
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe("Bea");
    await page.getByRole("button", { name: "Save as version 3" }).click();
    await page.getByText("The agent is saved as version 3").waitFor();
    expect(await shop.agents.get(id)).toMatchObject({ name: "Bea", persona: { role: "host" } });
  },
);

longTest(
  "the count of new messages has those that the filters show, and no others",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const write = (from: string, body: string) => shop.sandbox.inbound({ from, body });
    await page.goto(`${url}#/messages?direction=outbound`);
    await page.getByText("No message matches the filters").waitFor();
    await write("+14155550100", "Excluded");
    await shop.messages.send({ to: "+15005550001", body: "One" });
    await page.getByRole("button", { name: /new message/ }).waitFor();
    await page.getByRole("button", { name: "1 new message", exact: true }).click();
    await page.getByRole("row", { name: "One" }).waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();

    const [first] = (await shop.messages.list({ direction: "inbound" })).data;
    await show(page, `#/messages?to=${encodeURIComponent(first?.to ?? "")}`);
    await page.getByRole("row", { name: "Excluded" }).waitFor();
    await shop.messages.send({ to: "+15005550001", body: "Two" });
    await write("+14155550100", "Shown");
    await page.getByRole("button", { name: "1 new message", exact: true }).click();
    await page.getByRole("row", { name: "Shown" }).waitFor();
  },
);

longTest(
  "the focus stays at a change of consent when another one of the same millisecond follows",
  async ({ skip }) => {
    const { clock } = system();
    const now = clock.now();
    const { shop, url, page } = await openConsole(skip, {
      options: { clock: { ...clock, now: () => now } },
    });
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    const { id, contact_id } = await write("STOP");
    await page.goto(`${url}#/access/consent/${contact_id}`);
    const changes = page.locator(".consent-address .timeline-row");
    await changes.getByRole("link", { name: id }).focus();
    const { id: next } = await write("START");
    await changes.getByRole("link", { name: next }).waitFor();
    expect(await changes.locator("a").allInnerTexts()).toEqual([next, id]);
    expect(await page.evaluate("document.activeElement.innerText")).toBe(id);
  },
);

longTest(
  "an attempt that is shown stays when the answer to the redelivery comes late",
  async ({ skip }) => {
    const { http } = standard();
    const { shop, url, page } = await openConsole(skip, {
      options: { http: { ...http, allow: ["127.0.0.1"] } },
    });
    const receiver = await newReceiver();
    receiver.answer({ status: 500 });
    const { id } = await shop.webhooks.create({ url: receiver.url, events: ["contact.created"] });
    await shop.contacts.create({ phone: "+14155550100" });
    const delivery = await eventually(async () => {
      const [found] = (await shop.webhooks.deliveries(id)).data;
      expect(found?.attempts).toHaveLength(1);
      return found;
    });
    await page.goto(`${url}#/webhooks/${id}/${delivery?.id}`);
    const attempts = page.locator(".attempt");
    await attempts.waitFor();
    const { release } = await holdAnswers(page, "**/redeliver");
    await page.getByRole("button", { name: "Redeliver" }).click();
    await expect.poll(() => attempts.count()).toBeGreaterThan(1);
    const shown = await attempts.count();
    const message = page.locator(".toast");
    await release();
    await message.waitFor();
    expect(await attempts.count()).toBeGreaterThanOrEqual(shown);
  },
);
