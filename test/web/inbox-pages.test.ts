/** Every view and dialog of the inbox: full, empty, loading, broken and signed out. */
import { join } from "node:path";
import type { Locator, Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import type { Policy } from "../../adapters/entry.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { scratch } from "../cli/tidings.ts";
import { newContext } from "../support/browser/chromium.ts";
import { cases, isLong, longTest } from "../support/runs.ts";
import { faultsOf, show } from "./faults.ts";
import { fullConversation } from "./inbox-shop.ts";
import { pictures } from "./pictures.ts";
import {
  inboundText,
  kim,
  lee,
  newShop,
  newTab,
  openInbox,
  servePage,
  startEngine,
} from "./shop-pages.ts";

/** Nobody is written to at night, and nobody gets a discount. */
const houseRules: Policy = {
  name: "house_rules",
  evaluate({ message, now }) {
    if (message.body.includes("tonight")) {
      return { verdict: "defer", until: now + 3_600_000, reason: "It is late." };
    }
    if (!message.body.includes("discount")) return { verdict: "allow" };
    return { verdict: "deny", code: "discount", message: "There are no discounts." };
  },
};

const mostDifferentStates = new Set(["all", "all with rows"]);

test("each view of the inbox is whole and accessible: full, empty, loading and broken", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const check = async (state: string, newPart?: string): Promise<void> => {
    if (!isLong && !mostDifferentStates.has(state)) return;
    for (const fault of await faultsOf(page, newPart)) faults.push(`${state}: ${String(fault)}`);
  };
  const list = ".list";
  await page.goto(url);
  const empty = {
    all: "No open conversations",
    mine: "Nothing is assigned to you",
    unassigned: "Everything has an owner",
    waiting: "Nobody is waiting",
    snoozed: "Nothing is snoozed",
    closed: "Nothing is closed yet",
    "all?q=zebulon": "Nothing found",
    "all?label=none": "No conversation matches the filters",
  };
  const fewEmpty = new Set(["all", "waiting", "all?q=zebulon"]);
  for (const [view, text] of cases(Object.entries(empty), ([each]) => fewEmpty.has(each))) {
    await show(page, `#/${view}`);
    await page.getByText(text).waitFor();
    await check(view, view === "all" ? undefined : list);
  }
  await show(page, "#/all/conv_01J00000000000000000000000");
  await page.getByText("This conversation does not exist").waitFor();

  await shop.sandbox.seed();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const [i, body] of ["Later", "Done", "Mine"].entries()) {
    const text = await shop.sandbox.inbound({ from: `+1415555010${i}`, body });
    const { conversation_id: id } = text;
    if (body === "Later") {
      await shop.conversations.update(id, { status: "snoozed", snoozed_until: tomorrow });
    }
    if (body === "Done") await shop.conversations.update(id, { status: "closed" });
    if (body === "Mine") await shop.conversations.assign(id, { type: "human", id: kim.id });
  }
  const full = ["all", "mine", "unassigned", "waiting", "snoozed", "closed", "all?q=mine"];
  const fewFull = new Set(["all", "snoozed", "all?q=mine"]);
  for (const view of cases(full, (each) => fewFull.has(each))) {
    await show(page, `#/${view}`);
    await page.locator(".row").first().waitFor();
    await check(`${view} with rows`, list);
  }
  // The browser reports the missing conversation by itself.
  expect(faults.filter((fault) => !fault.includes("status of 404"))).toEqual([]);

  const released = Promise.withResolvers<void>();
  await page.route("**/v1/**", async (route) => {
    await released.promise;
    await route.abort();
  });
  // A late event could put a row into a list where it belongs.
  await show(page, "#/all?label=none");
  await page.locator(".list .skeleton").waitFor();
  if (isLong) expect(await faultsOf(page, list)).toEqual([]);
  released.resolve();
  await page.locator(".list").getByRole("button", { name: "Try again" }).waitFor();
  expect(await faultsOf(page, list)).toEqual([]);
});

/** A list to pick from, a menu, a panel and a form. */
const mostDifferentBoxes = new Set(["label", "message", "filters", "newMessage"]);

test("each dialog, menu and notice of the inbox is accessible, and dialogs close by Escape", async ({
  skip,
}) => {
  const there = await openInbox(skip, { options: { policies: [houseRules] } });
  const { shop, url, page, faults } = there;
  const id = await fullConversation(there);
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".note").waitFor();
  await page.getByRole("complementary", { name: "Contact" }).waitFor();
  await page.getByText("Likes ferns").waitFor();
  for (const fault of await faultsOf(page)) faults.push(`conversation: ${String(fault)}`);

  const button = (name: string, of: Page | ReturnType<Page["locator"]> = page) =>
    of.getByRole("button", { name, exact: true }).first();
  const contact = page.getByRole("complementary", { name: "Contact" });
  const key = (pressed: string) => async () => {
    await page.locator(".conversation-header h2").click();
    await page.keyboard.press(pressed);
  };
  const messageMenu = (row: string) => async () => {
    const message = page.locator(row).first();
    await message.hover();
    await button("Message actions", message).click();
  };
  const inMenu = (row: string, item: string) => async () => {
    await messageMenu(row)();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const inActions = (item: string) => async () => {
    await button("More actions").click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const inPicker = (opens: string, option: string) => async () => {
    await key(opens)();
    await page.getByRole("option", { name: option }).click();
  };
  const dialogs: Readonly<Record<string, readonly [string, () => Promise<unknown>]>> = {
    assign: [".picker", key("a")],
    label: [".picker", key("l")],
    snooze: [".picker", key("s")],
    snoozeAt: ["dialog", inPicker("s", "At a date and time")],
    help: ["dialog", key("?")],
    settings: ["[role=menu]", () => button("Settings").click()],
    appearance: ["[role=menu]", () => button("Appearance").click()],
    menu: ["[role=menu]", () => button("More actions").click()],
    handOff: ["dialog", inActions("Hand off to people")],
    newMessage: ["dialog", key("m")],
    filters: [".filters", () => button("Filter").click()],
    message: ["[role=menu]", messageMenu(".message.is-in")],
    details: ["dialog", inMenu(".message.is-in", "Details of this message")],
    why: ["dialog", inMenu(".message[data-status=delivered]", "Why the agent wrote this")],
    attach: ["dialog", () => button("Attach a file by its address").click()],
    schedule: [".picker", () => button("Schedule").click()],
    consent: ["dialog", () => button("Record an opt-out", contact).click()],
    merge: ["dialog", () => button("Merge with another contact", contact).click()],
    erase: ["dialog", () => button("Erase all data", contact).click()],
  };
  const tried = cases(Object.entries(dialogs), ([name]) => mostDifferentBoxes.has(name));
  for (const [name, [box, open]] of tried) {
    await open();
    await page.locator(box).first().waitFor();
    const found = await faultsOf(page, `${box}, [aria-expanded=true]`);
    for (const fault of found) faults.push(`${name}: ${String(fault)}`);
    await page.keyboard.press("Escape");
    await page.locator(box).first().waitFor({ state: "detached" });
  }

  // What the composer says about a reply.
  const composer = page.locator(".composer-area");
  const notices = {
    "See you tonight": /waits until .*: It is late\./,
    "Take a discount": /cannot be sent: There are no discounts\./,
    ["x".repeat(1_602)]: "2 characters too long",
  };
  for (const [i, [written, notice]] of Object.entries(notices).entries()) {
    await composer.fill(written);
    await page.locator(".composer").getByText(notice).waitFor();
    if (i > 0 && !isLong) continue;
    const found = await faultsOf(page, ".composer");
    for (const fault of found) faults.push(`${String(notice)}: ${String(fault)}`);
  }
  const { contact: ann } = await shop.conversations.get(id);
  await shop.contacts.setConsent(ann.id, "text", { status: "opted_out" });
  await composer.fill("One more thing");
  await page.locator(".composer").getByText("Ann Keller has opted out.").waitFor();
  const found = await faultsOf(page, ".composer");
  for (const fault of found) faults.push(`opted out: ${String(fault)}`);
  expect(await button("Send").isDisabled()).toBe(true);
  expect(faults).toEqual([]);
});

/** A picture of an element without its edges, as it is seen. */
async function pictureOf(element: Locator): Promise<Buffer> {
  const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {};
  const edge = 12;
  const clip = { x: x + edge, y: y + edge, width: width - 2 * edge, height: height - 2 * edge };
  return element.page().screenshot({ clip });
}

longTest(
  "a server that is gone moves nothing on the page, and its successor gets what was typed",
  async ({ skip }) => {
    const file = join(await scratch(), "shop.db");
    const { engine, shop, authorize } = await newShop({ storage: sqlite({ file }) });
    const server = await servePage(inboxHandler(engine, { authorize }));
    const { page } = await newTab(await newContext(skip));
    const { conversation_id: id } = await inboundText(shop);
    await page.goto(`${server.url}#/all/${id}`);
    await page.locator(".message").waitFor();
    await expect.poll(() => server.streams()).toBe(1);
    const places = () =>
      page.evaluate(
        `[".row", ".message", ".composer-area", ".actions"].map((each) =>
         JSON.stringify(document.querySelector(each).getBoundingClientRect()))`,
      );
    // The thread moves until all its parts are loaded.
    let before = await places();
    await expect
      .poll(async () => {
        const last = before;
        await page.waitForTimeout(300);
        before = await places();
        return JSON.stringify(last) === JSON.stringify(before);
      })
      .toBe(true);
    server.stop();
    await engine.stop();
    await page.getByText("Not connected").waitFor();
    expect(await places()).toEqual(before);
    await page.locator(".composer-area").fill("Still here");
    await page.locator(".composer-area").press("Control+Enter");
    await page.locator(".message[data-status=failed]", { hasText: "Still here" }).waitFor();
    await page.locator(".composer-area").fill("And here");
    expect(await faultsOf(page)).toEqual([]);

    // What a dialog could not do is said above it, and what was typed in it stays.
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Hand off to people" }).click();
    const handOff = page.getByRole("dialog", { name: "Hand off to people" });
    await handOff.getByRole("textbox", { name: "Reason" }).fill("Wants a person");
    await handOff.getByRole("button", { name: "Hand off to people" }).click();
    const said = page.locator(".toast", { hasText: "The server does not respond." });
    await said.waitFor();
    expect(await handOff.getByRole("textbox", { name: "Reason" }).inputValue()).toBe(
      "Wants a person",
    );
    const above = await pictureOf(said);
    await page.keyboard.press("Escape");
    await handOff.getByRole("button", { name: "Discard" }).click();
    await handOff.waitFor({ state: "detached" });
    expect(above.equals(await pictureOf(said))).toBe(true);

    const successor = await startEngine({ storage: sqlite({ file }) });
    server.restart(inboxHandler(successor, { authorize }));
    await page.getByText("Connected again").waitFor();
    await page.locator(".message").getByRole("button", { name: "Try again" }).click();
    await page
      .locator(".message.is-out[data-status=delivered]", { hasText: "Still here" })
      .waitFor();
    expect(await page.locator(".composer-area").inputValue()).toBe("And here");
    await page.locator(".composer-area").press("Control+Enter");
    await page.locator(".message.is-out[data-status=delivered]", { hasText: "And here" }).waitFor();
  },
);

test("a session that ends while a person writes keeps the text for that person, and for nobody else", async ({
  skip,
}) => {
  const { engine, shop, authorize } = await newShop();
  let person: typeof kim | null = kim;
  const { url } = await servePage(
    inboxHandler(engine, {
      authorize: async (request) => {
        const access = await authorize(request);
        return person === null || access === null ? null : { ...access, operator: person };
      },
    }),
  );
  const { page } = await newTab(await newContext(skip));
  const { conversation_id: id } = await inboundText(shop);
  await page.goto(`${url}#/all/${id}`);
  const composer = page.locator(".composer-area");
  await composer.pressSequentially("We are open");
  person = null;
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  const signIn = async (as: typeof kim): Promise<void> => {
    await dialog.waitFor();
    person = as;
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.waitFor({ state: "detached" });
    await composer.waitFor();
  };
  await dialog.getByText("Your session has ended. What you typed is kept.").waitFor();
  // The person knows what the sign-in is for.
  await dialog.getByText("Inbox", { exact: true }).waitFor();
  if (isLong) expect(await faultsOf(page, "dialog")).toEqual([]);
  for (let i = 0; i < 2; i++) await page.keyboard.press("Escape");
  await page.locator("dialog:modal").waitFor();
  // The person signs in to the application in another tab, and comes back.
  person = kim;
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await dialog.waitFor({ state: "detached" });
  // The person goes on writing where the session ended. Nothing but the reply is to be refused next.
  const previewed = page.waitForResponse(
    (response) => response.request().postData()?.includes("until six.") === true,
  );
  await page.keyboard.type(" until six.");
  await previewed;
  expect(await composer.inputValue()).toBe("We are open until six.");

  // The session ends with this request. If another one were refused first, nothing would be sent.
  const ends = (route: Route): Promise<void> => {
    person = null;
    return route.continue();
  };
  await page.route(/\/messages$/, ends, { times: 1 });
  // Lee signs in only once the server has refused it.
  const refused = page.waitForResponse(/\/messages$/);
  await composer.press("Control+Enter");
  await refused;
  await signIn(lee);
  await page.locator(".rail-operator", { hasText: lee.name }).waitFor();
  expect(await page.getByText("We are open until six.").count()).toBe(0);
  person = kim;
  await page.reload();
  await page.locator(".message[data-status=failed]", { hasText: "until six." }).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".message.is-out[data-status=delivered]", { hasText: "until six." }).waitFor();
});

longTest(
  "what a person does is not done in the name of another, who signed in meanwhile in another tab",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    const lee = { id: "lee", name: "Lee Park" };
    let isLee = false;
    const { url } = await servePage(
      inboxHandler(engine, {
        authorize: async (request) => {
          const access = await authorize(request);
          return isLee && access !== null ? { ...access, operator: lee } : access;
        },
      }),
    );
    const { page } = await newTab(await newContext(skip));
    const { conversation_id: id } = await inboundText(shop);
    // Nothing but the reply is to be refused: that the person has seen the conversation is known.
    const read = page.waitForResponse(/\/read$/);
    await page.goto(`${url}#/all/${id}`);
    await read;
    const composer = page.locator(".composer-area");
    const previewed = page.waitForResponse(/\/preview$/);
    await composer.fill("It is ready.");
    await previewed;
    isLee = true;
    await composer.press("Control+Enter");
    const dialog = page.getByRole("dialog", { name: "Sign in" });
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "Try again" }).click();
    await page.locator(".rail-operator", { hasText: lee.name }).waitFor();
    await page.locator(".message", { hasText: "Hello?" }).waitFor();
    expect(await page.getByText("It is ready.").count()).toBe(0);
    expect((await shop.conversations.messages(id)).data).toHaveLength(1);
    isLee = false;
    await page.reload();
    await page.locator(".message[data-status=failed]", { hasText: "It is ready." }).waitFor();
  },
);

type Shop = Awaited<ReturnType<typeof newShop>>["shop"];

/** What a person does while the session ends, and how it shows that it is done. */
const deeds: readonly {
  readonly what: string;
  readonly path: string;
  readonly act: (page: Page) => Promise<void>;
  readonly isDone: (page: Page, shop: Shop, id: string) => Promise<boolean>;
}[] = [
  {
    what: "take a conversation",
    path: "**/assign",
    async act(page) {
      await page.keyboard.press("a");
      await page.keyboard.press("Enter");
    },
    isDone: async (_, shop, id) => (await shop.conversations.get(id)).assignee?.id === kim.id,
  },
  {
    what: "open a file",
    path: "**/media/**",
    act: (page) => page.getByRole("button", { name: "Show", exact: true }).click(),
    isDone: async (page) => (await page.locator("img.attachment-file").count()) === 1,
  },
];

longTest.for(deeds)(
  "an answer to the session that has ended does not end the one that followed, and a person can still $what",
  async ({ path, act, isDone }, { skip }) => {
    const { engine, shop, authorize } = await newShop({ http: { client: pictures } });
    let isSignedIn = true;
    const { url } = await servePage(
      inboxHandler(engine, { authorize: (request) => (isSignedIn ? authorize(request) : null) }),
    );
    const { page } = await newTab(await newContext(skip));
    const { conversation_id: id } = await shop.sandbox.inbound({
      from: "+14155550100",
      body: "Hello?",
      media: [{ url: "https://example.com/plant.png" }],
    });
    await page.goto(`${url}#/all/${id}`);
    await page.getByRole("button", { name: "More actions" }).waitFor();
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    await page.route(
      path,
      async (route) => {
        asked.resolve();
        await released.promise;
        await route.fulfill({ status: 401, json: { status: 401 } });
        late.resolve();
      },
      { times: 1 },
    );
    await act(page);
    await asked.promise;
    isSignedIn = false;
    await page.locator(".composer-area").fill("Hi");
    const dialog = page.getByRole("dialog", { name: "Sign in" });
    await dialog.waitFor();
    isSignedIn = true;
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.waitFor({ state: "detached" });
    released.resolve();
    await late.promise;
    await expect.poll(() => isDone(page, shop, id)).toBe(true);
    expect(await dialog.count()).toBe(0);
  },
);
