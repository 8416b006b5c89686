/** What a person wrote in the inbox and nobody has: drafts, and messages that failed. */
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { longTest } from "../support/runs.ts";
import { openConversation, openInbox, waitForQuota } from "./shop-pages.ts";

/** Opens one conversation in two tabs. */
async function openTwoTabs(skip: TestContext["skip"]) {
  const { shop, url, page } = await openInbox(skip);
  const from = "+14155550100";
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
  const second = await page.context().newPage();
  onTestFinished(() => second.close());
  for (const tab of [page, second]) {
    await tab.goto(`${url}#/all/${id}`);
    await tab.locator(".message").waitFor();
  }
  return { shop, url, id, page, second };
}

longTest(
  "a message that fails after its author went on is told, marked in the list, and one click away",
  async ({ skip }) => {
    const { shop, url, page, refuse } = await openInbox(skip);
    const write = async (name: string, phone: string) => {
      await shop.contacts.create({ phone, name });
      return (await shop.sandbox.inbound({ from: phone, body: "Hello?" })).conversation_id;
    };
    const ann = await write("Ann", "+14155550100");
    // The sandbox does not deliver to this number.
    const bob = await write("Bob", "+15005550003");
    await page.goto(`${url}#/all/${ann}`);
    const row = (name: string) => page.locator(".row", { hasText: name });
    const composer = page.locator(".composer-area");
    const show = (id: string) => page.evaluate(`location.hash = "#/all/${id}"`);

    const held = Promise.withResolvers<void>();
    await page.route(`**/${ann}/messages`, async (route) => {
      await held.promise;
      await route.continue();
    });
    // The carrier's receipt comes before the server's answer.
    const answered = Promise.withResolvers<void>();
    await page.route(`**/${bob}/messages`, async (route) => {
      const response = await route.fetch();
      await answered.promise;
      await route.fulfill({ response });
    });
    refuse(/\/messages$/);
    await composer.fill("Until six.");
    await composer.press("Control+Enter");
    await show(bob);
    await page.locator(".conversation-header", { hasText: "Bob" }).waitFor();
    await composer.fill("And for you");
    held.resolve();
    const unsent = page.locator(".toast", { hasText: "The message to Ann was not sent." });
    await unsent.waitFor();
    await row("Ann").getByText("Not sent").waitFor();
    // What is written in the open conversation is seen there.
    expect(await row("Bob").getByText("Draft").count()).toBe(0);
    await page.reload();
    await row("Ann").getByText("Not sent").waitFor();

    refuse(undefined);
    await waitForQuota(page, url);
    expect(await composer.inputValue()).toBe("And for you");
    await composer.press("Control+Enter");
    // There are two while the server has the message and its answer has not arrived.
    await page.locator(".message.is-out").first().waitFor();
    await composer.fill("One more thing");
    await show(ann);
    await page.locator(".conversation-header", { hasText: "Ann" }).waitFor();
    await expect
      .poll(async () => (await shop.conversations.messages(bob)).data[0]?.status)
      .toBe("undelivered");
    answered.resolve();
    const lost = page.locator(".toast", { hasText: "The message to Bob was not delivered." });
    await lost.waitFor();
    await row("Bob").getByText("Draft").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".message.is-out", { hasText: "Until six." }).waitFor();
    await row("Ann").getByText("Not sent").waitFor({ state: "detached" });

    await lost.getByRole("button", { name: "Show" }).click();
    await page.locator(".message.is-out[data-status=undelivered]").waitFor();
    expect(await composer.inputValue()).toBe("One more thing");
    await row("Bob").getByText("Draft").waitFor({ state: "detached" });
  },
);

longTest(
  "two tabs have one draft, and what one of them sends is gone in the other",
  async ({ skip }) => {
    const { shop, id, page, second } = await openTwoTabs(skip);
    const [first, other] = [page, second].map((tab) => tab.locator(".composer-area"));
    await first?.fill("We are open");
    await expect.poll(() => other?.inputValue()).toBe("We are open");
    await other?.fill("We are open until six.");
    await expect.poll(() => first?.inputValue()).toBe("We are open until six.");
    await other?.press("Control+Enter");
    await expect.poll(() => first?.inputValue()).toBe("");
    for (const tab of [page, second]) {
      await tab.locator(".message.is-out[data-status=delivered]").waitFor();
      await expect.poll(() => tab.locator(".message.is-out").count()).toBe(1);
    }
    const { data } = await shop.conversations.messages(id);
    expect(data.filter(({ direction }) => direction === "outbound")).toHaveLength(1);
  },
);

longTest("each message of a long outage stays, however many they are", async ({ skip }) => {
  const { page, refuse } = await openConversation(skip);
  const area = page.locator(".composer-area");
  await page.locator(".message").waitFor();
  refuse(/messages$/);
  const written = Array.from({ length: 22 }, (_, index) => `Answer ${index}.`);
  for (const body of written) {
    await area.fill(body);
    await area.press("Control+Enter");
    await page.locator(".message.is-out", { hasText: body }).waitFor();
  }
  await page.reload();
  await expect.poll(() => page.locator(".message.is-out .bubble").allInnerTexts()).toEqual(written);
});

test("a note that is being written never becomes a reply, and neither is lost", async ({
  skip,
}) => {
  const { shop, id, page, second } = await openTwoTabs(skip);
  const area = (tab: typeof page) => tab.locator(".composer-area");
  const choose = (name: string) => page.getByRole("tab", { name });
  await choose("Note").click();
  await area(page).fill("He always complains.");
  await area(page).press("Escape");
  await page.keyboard.press("r");
  await expect.poll(() => area(page).inputValue()).toBe("");
  await choose("Note Draft").waitFor();
  await area(page).press("Control+Enter");
  await area(page).fill("Until six.");
  await expect.poll(() => area(second).inputValue()).toBe("Until six.");
  await choose("Note").click();
  await choose("Reply Draft").waitFor();
  expect(await area(page).inputValue()).toBe("He always complains.");
  await page.reload();
  await expect.poll(() => area(page).inputValue()).toBe("He always complains.");
  await choose("Reply").click();
  await area(page).press("Control+Enter");
  await page.locator(".message.is-out[data-status=delivered]").waitFor();
  await expect.poll(() => area(page).inputValue()).toBe("");
  const { data } = await shop.conversations.messages(id);
  expect(new Set(data.map(({ body }) => body))).toEqual(new Set(["Hello?", "Until six."]));
  await choose("Note Draft").click();
  await page.getByRole("button", { name: "Add note", exact: true }).click();
  await page.locator(".note", { hasText: "He always complains." }).waitFor();
  expect(await area(page).inputValue()).toBe("");
});

longTest(
  "a message whose tab was closed while it sent can be sent from another tab",
  async ({ skip }) => {
    const { url, page, second } = await openTwoTabs(skip);
    // The request of the first tab never arrives.
    await page.evaluate("window.fetch = () => new Promise(() => {})");
    await page.locator(".composer-area").fill("Until six.");
    await page.locator(".composer-area").press("Control+Enter");
    const outgoing = second.locator(".message.is-out");
    await outgoing.getByText("Sending").waitFor();
    await waitForQuota(second, url);
    await page.close();
    await outgoing.getByRole("button", { name: "Try again" }).click();
    await second.locator(".message.is-out[data-status=delivered]").waitFor();
    expect(await outgoing.count()).toBe(1);
  },
);

longTest(
  "a tab that is opened while another sends shows the message as being sent",
  async ({ skip }) => {
    const { shop, url, id, page, second } = await openTwoTabs(skip);
    const held = Promise.withResolvers<void>();
    await page.route(`**/${id}/messages`, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.locator(".composer-area").fill("Until six.");
    await page.locator(".composer-area").press("Control+Enter");
    await second.reload();
    const outgoing = second.locator(".message.is-out");
    await outgoing.getByText("Sending").waitFor();
    expect(await second.getByText("Not sent").count()).toBe(0);
    await waitForQuota(second, url);
    held.resolve();
    await second.locator(".message.is-out[data-status=delivered]").waitFor();
    await expect.poll(() => outgoing.count()).toBe(1);
    const { data } = await shop.conversations.messages(id);
    expect(data.filter(({ direction }) => direction === "outbound")).toHaveLength(1);
  },
);

longTest(
  "a message that was refused and then sent is not sent again from another tab",
  async ({ skip }) => {
    const { shop, url, id, page, second } = await openTwoTabs(skip);
    const path = `**/${id}/messages`;
    await page.route(path, (route) => route.fulfill({ status: 403, json: { status: 403 } }));
    await page.locator(".composer-area").fill("Until six.");
    await page.locator(".composer-area").press("Control+Enter");
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    await page.unroute(path);
    // The server sends it, but its answer never arrives. Both tabs have yet to learn of it.
    const sent = Promise.withResolvers<void>();
    const learned = Promise.withResolvers<void>();
    for (const tab of [page, second]) {
      await tab.route(/[/]messages[/]msg_/, async (route) => {
        await learned.promise;
        // The first tab is closed by then.
        await route.continue().catch(() => {});
      });
    }
    await page.route(path, async (route) => {
      await route.fetch();
      sent.resolve();
    });
    await waitForQuota(second, url);
    await again.click();
    await sent.promise;
    // Until then, the button of the first failure is there, and a click on it may come too late.
    await second.getByText("Sending").waitFor();
    await page.close();
    await second.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => second.getByRole("button", { name: "Try again" }).count()).toBe(0);
    learned.resolve();
    await second.locator(".message.is-out[data-status=delivered]").first().waitFor();
    await expect.poll(() => second.getByText("Sending").count()).toBe(0);
    const { data } = await shop.conversations.messages(id);
    expect(data.filter(({ direction }) => direction === "outbound")).toHaveLength(1);
  },
);

longTest(
  "a message that arrives before the answer to its request is shown once, also if the answer is lost",
  async ({ skip }) => {
    const { page } = await openConversation(skip);
    await page.locator(".message").waitFor();
    const answered = Promise.withResolvers<void>();
    await page.route(/[/]messages$/, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      await route.fetch();
      await answered.promise;
      await route.abort();
    });
    const area = page.locator(".composer-area");
    const sent = page.locator(".message.is-out");
    await area.fill("Until six.");
    await area.press("Control+Enter");
    await page.locator(".message.is-out[data-status=delivered]").waitFor();
    expect(await sent.count()).toBe(1);
    const lost = page.waitForEvent("requestfailed");
    answered.resolve();
    await lost;
    await area.fill("See you then.");
    await page.unrouteAll({ behavior: "wait" });
    await area.press("Control+Enter");
    await page.locator(".message.is-out", { hasText: "See you then." }).waitFor();
    expect(await sent.count()).toBe(2);
    expect(await page.getByRole("alert").count()).toBe(0);
  },
);

longTest(
  "a message that was not delivered is written again, and keeps what the person is writing",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const from = "+15005550003";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Are you open?" });
    const media = [{ url: "https://example.com/plant.jpg" }];
    await shop.conversations.reply(id, { body: "Until six.", media, author_id: "kim" });
    await page.goto(`${url}#/all/${id}`);
    const lost = page.locator(".message[data-status=undelivered]");
    await lost.waitFor();
    // The picture has the initials of the name, also where the name is "You".
    expect(await lost.locator(".message-author").textContent()).toBe("KLYou");
    await page.locator(".composer-area").fill("And on Sunday, too.");
    await lost.getByRole("button", { name: "Edit and send again" }).click();
    expect(await page.locator(".composer-area").inputValue()).toBe(
      "Until six.\nAnd on Sunday, too.",
    );
    await page.locator(".chip", { hasText: "plant.jpg" }).waitFor();
    expect(faults).toEqual([]);
  },
);

longTest(
  "the drafts that were used last stay, also in a browser that stores nothing",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    // The page keeps 200 drafts.
    const people: { readonly id: string; readonly name: string }[] = [];
    for (let i = 0; i < 202; i++) {
      const name = `Person ${i}.`;
      const phone = `+1415555${2_000 + i}`;
      await shop.contacts.create({ phone, name });
      const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "Hello?" });
      people.push({ id, name });
    }
    const [ann, bob] = people;
    if (ann === undefined || bob === undefined) throw new Error("Nobody has written.");
    await page.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })",
    );
    // The rest of what a conversation shows would use up the person's rate limit.
    await page.route(/v1[/](contacts|messages|conversations[/]\w+[/])/, (route) =>
      route.fulfill({ json: { data: [], has_more: false, next_cursor: null } }),
    );
    const composer = page.locator(".composer-area");
    const show = async ({ id, name }: (typeof people)[number]): Promise<void> => {
      await page.evaluate(`location.hash = "#/all/${id}"`);
      await page.locator(".conversation-header", { hasText: name }).waitFor();
    };
    await page.goto(`${url}#/all`);
    for (const each of people) await show(each);
    await show(ann);
    await composer.fill("Written to Ann");
    await show(bob);
    await composer.fill("Written to Bob");
    await show(ann);
    expect(await composer.inputValue()).toBe("Written to Ann");
  },
);
