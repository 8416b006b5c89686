/** What a person sees at a glance in the console. */
import { expect, test } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { newReceiver } from "./receiver.ts";
import { openConsole } from "./shop-pages.ts";

const phone = { width: 390, height: 844 };

longTest(
  "a webhook that fails is found by its address, in the list and in the overview",
  async ({ skip }) => {
    const { http } = standard();
    const { shop, url, page } = await openConsole(skip, {
      options: { http: { ...http, allow: ["127.0.0.1"] } },
      size: phone,
    });
    const receiver = await newReceiver();
    receiver.answer({ status: 500 });
    const { id } = await shop.webhooks.create({ url: receiver.url, events: ["message.*"] });
    await shop.webhooks.create({ url: "https://shop.example/hooks", events: ["webhook.disabled"] });
    await page.goto(`${url}#/webhooks`);
    const table = page.getByRole("region", { name: "Webhooks" });
    const failing = table.getByRole("row", { name: receiver.url });
    await failing.getByText("Enabled").waitFor();
    await shop.messages.send({ to: "+15005550001", body: "Hello" });
    await eventually(async () => {
      const { data } = await shop.webhooks.deliveries(id);
      expect(data.some(({ attempt_count }) => attempt_count > 0)).toBe(true);
    });
    await shop.contacts.create({ name: "Ann" });
    await failing.getByText(/^Failing since /).waitFor();
    await failing.locator("time").first().waitFor();
    const healthy = table.getByRole("row", { name: "https://shop.example/hooks" });
    await healthy.getByText("Enabled").waitFor();
    // On a phone, what is empty is left out. Each value has its label, and all are shown without
    // scrolling.
    expect(await healthy.getByText("–").first().isVisible()).toBe(false);
    for (const cell of await failing.getByRole("cell").all()) {
      const box = await cell.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? phone.width)).toBeLessThan(phone.width);
    }
    const labels = await page.evaluate<string[]>(
      `[...document.querySelectorAll("tbody tr:first-child td")].map((cell) =>
       getComputedStyle(cell, "::before").content)`,
    );
    expect(labels).toContain('"Oldest waiting"');
    expect(labels, "A badge names itself.").not.toContain('"Status"');

    await page.goto(`${url}#/overview`);
    const lag = page.getByRole("region", { name: "Webhooks with waiting deliveries" });
    await lag.getByRole("link", { name: receiver.url }).waitFor();
  },
);

test("a dialog on a phone says once what is wrong, at the field, and leads there", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip, { size: phone });
  await page.goto(`${url}#/webhooks`);
  await page.getByRole("button", { name: "Add webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("nonsense");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.locator("[aria-invalid=true]:focus").waitFor();
  expect(await dialog.getByText("absolute URL").count()).toBe(1);
  // Phones zoom into a field with smaller text, and stay zoomed.
  const size = `getComputedStyle(document.querySelector("dialog input")).fontSize`;
  expect(await page.evaluate(size)).toBe("16px");
});

longTest("the list of test numbers shows each number whole", async ({ skip }) => {
  const { url, page } = await openConsole(skip, { size: phone });
  await page.goto(`${url}#/phones`);
  await page.getByRole("button", { name: "Add phone" }).click();
  await page.getByRole("option").first().waitFor();
  const cut = await page.evaluate<string[]>(
    `[...document.querySelectorAll("[role=option] > bdi")].filter((each) => {
       const range = document.createRange();
       range.selectNodeContents(each);
       return range.getBoundingClientRect().width > each.getBoundingClientRect().width;
     }).map((each) => each.textContent)`,
  );
  expect(cut).toEqual([]);
});

longTest(
  "a link to another page takes the focus along, and the first page leaves it at its start",
  async ({ skip }) => {
    const { url, page } = await openConsole(skip);
    await page.goto(`${url}#/mesages`);
    const link = page.getByRole("link", { name: "Go to the first page" });
    await link.waitFor();
    expect(await page.evaluate("document.activeElement.localName")).toBe("body");
    await link.press("Enter");
    await page.getByRole("heading", { name: "Phones", level: 1 }).waitFor();
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  },
);

test("who opens a form, or the page of what they created, goes on there with the keyboard", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  const place = () => page.evaluate<string>("document.activeElement.id");
  await page.goto(`${url}#/agents`);
  await page.getByRole("button", { name: "New agent" }).press("Enter");
  await page.getByRole("heading", { name: "New agent" }).waitFor();
  await expect.poll(place).toBe("main");
  await page.goto(`${url}#/webhooks`);
  await page.getByRole("button", { name: "Add webhook" }).press("Enter");
  await page.keyboard.type("https://shop.example/hooks");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "The webhook is added" }).waitFor();
  await page.getByRole("button", { name: "I have stored it" }).press("Enter");
  await page.getByRole("heading", { name: "https://shop.example/hooks" }).waitFor();
  await expect.poll(place).toBe("main");
});

longTest("fields side by side stay in line when one of them is wrong", async ({ skip }) => {
  const { url, page } = await openConsole(skip, { size: phone });
  await page.goto(`${url}#/access/senders`);
  await page.getByRole("button", { name: "Add sender" }).click();
  const field = (label: string) => page.getByRole("dialog").getByLabel(label);
  await field("Address").fill("+15005559998");
  await field("Transport").fill("sandbox");
  await field("Messages per second").fill("x");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText('must be a number, got "x"').waitFor();
  const [one, other] = await Promise.all(
    ["Messages per second", "Messages in 24 hours"].map((each) => field(each).boundingBox()),
  );
  expect([other?.y, other?.height]).toEqual([one?.y, one?.height]);
});

longTest("the answer of an endpoint is accessible", async ({ skip }) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/api/messagesSend`);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("heading", { name: "Response 201" }).waitFor();
  expect(await faultsOf(page, "main")).toEqual([]);
});

longTest(
  "a narrow console offers its pages by name at an unknown address, too",
  async ({ skip }) => {
    const { url, page } = await openConsole(skip, { size: phone });
    await page.goto(`${url}#/mesages`);
    const menu = page.locator(".rail").getByRole("button", { name: "Pages" });
    await menu.waitFor();
    expect(await menu.innerText()).toBe("Pages");
    await menu.click();
    await page.getByRole("menuitemradio", { name: "Messages" }).click();
    await page.getByRole("heading", { name: "Messages", level: 1 }).waitFor();
  },
);

test("a sender with a long address fits a phone", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip, { size: phone });
  const address = `shop_${"x".repeat(50)}`;
  await shop.senders.create({ address, channels: ["webchat"], transport: "webchat" });
  await page.goto(`${url}#/access/senders`);
  await page.getByRole("row", { name: address }).waitFor();
  expect(await faultsOf(page, ".table")).toEqual([]);
});
