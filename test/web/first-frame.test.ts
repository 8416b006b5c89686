/** What a page shows and takes from the first frame of each of its parts. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { holdAnswers } from "./hold-answers.ts";
import { openConsole, openConversation, openInbox } from "./shop-pages.ts";

/** Does something, and something else once an element is shown, before the page draws a frame. */
const onceShown = (page: Page, act: string, shown: string, next: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const press = (key) => {
      const options = { key, bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
    };
    const isShown = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector(${JSON.stringify(shown)}) === null) return;
        observer.disconnect();
        resolve();
      }).observe(document, { attributes: true, childList: true, subtree: true });
    });
    ${act};
    await isShown;
    return ${next};
  })()`);

/** Goes to a place, and returns what the first frame there has. */
const firstFrame = (page: Page, place: string, read: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const drawn = new Promise((resolve) =>
      addEventListener("hashchange", () => requestAnimationFrame(resolve), { once: true }));
    location.hash = ${JSON.stringify(place)};
    await drawn;
    return ${read};
  })()`);

/** Sets `window.wasSeen` if a frame is drawn in which this is true. */
const watchFrames = (isWrong: string): string => `(function look() {
  if (document.body !== null && ${isWrong}) window.wasSeen = true;
  requestAnimationFrame(look);
})()`;

const focused = `document.activeElement.labels?.[0]?.textContent`;

longTest("no frame shows the conversations or the messages of another place", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const write = async (name: string, phone: string) => {
    await shop.contacts.create({ phone, name });
    return (await shop.sandbox.inbound({ from: phone, body: `I am ${name}` })).conversation_id;
  };
  const ann = await write("Ann", "+14155550100");
  const bob = await write("Bob", "+14155550101");
  await page.addInitScript(watchFrames(`document.querySelector(".list .state") !== null`));
  await page.goto(`${url}#/all/${ann}`);
  await page.locator(".row", { hasText: "Bob" }).waitFor();
  await page.locator(".message", { hasText: "I am Ann" }).waitFor();
  expect(await page.evaluate("window.wasSeen === true"), "a list is empty once it is read").toBe(
    false,
  );

  const released = Promise.withResolvers<void>();
  await page.route(/\/messages\?|\/v1\/conversations\?/, async (route) => {
    await released.promise;
    await route.continue();
  });
  const messages = `[document.querySelector(".conversation-header h2").textContent,
    ...[...document.querySelectorAll(".message")].map((each) => each.textContent)]`;
  expect(await firstFrame(page, `#/all/${bob}`, messages)).toEqual(["Bob"]);
  const rows = `[document.querySelector(".list-title").textContent,
    ...[...document.querySelectorAll(".row-name")].map((each) => each.textContent)]`;
  expect(await firstFrame(page, `#/mine/${bob}`, rows)).toEqual(["Mine"]);
  released.resolve();
  await page.locator(".message", { hasText: "I am Bob" }).waitFor();
  expect(faults).toEqual([]);
});

longTest("a shortcut works as soon as its button is shown", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  await shop.sandbox.inbound({ from: "+14155550100", body: "Hello?" });
  await page.goto(url);
  await page.locator(".row").waitFor();
  const open = `document.querySelector(".row").click()`;
  await onceShown(page, open, ".actions", `press("a")`);
  await page.getByRole("listbox").waitFor();
});

longTest(
  "a message that a person goes to has the focus as soon as it is marked",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    for (const body of ["A refund, please", "Thanks"]) await shop.sandbox.inbound({ from, body });
    await page.goto(`${url}#/all?q=refund`);
    await page.locator(".row mark").waitFor();
    const open = `document.querySelector(".row").click()`;
    const isFocused = `document.activeElement.matches(".is-marked")`;
    expect(await onceShown(page, open, ".entry.is-marked", isFocused)).toBe(true);
  },
);

longTest(
  "who edits a contact types at once, into the name and then into what is wrong",
  async ({ skip }) => {
    const { page } = await openConversation(skip);
    const contact = page.getByRole("complementary", { name: "Contact" });
    const edit = contact.getByRole("button", { name: "Edit" });
    await edit.waitFor();
    const begin = `document.querySelector(".contact [aria-label=Edit]").click()`;
    expect(await onceShown(page, begin, ".attributes", focused)).toBe("Name");
    await contact.getByLabel("Email").fill("ann");
    await contact.getByRole("button", { name: "Save" }).focus();
    const save = `document.activeElement.click()`;
    expect(await onceShown(page, save, "[aria-invalid=true]", focused)).toBe("Email");
    await contact.getByLabel("Email").fill("ann@example.com");
    await contact.getByRole("button", { name: "Save" }).focus();
    const label = `document.activeElement.getAttribute("aria-label")`;
    const shown = `.contact [aria-label=Edit]`;
    await page.evaluate("document.activeElement.blur()");
    const send = `document.querySelector(".attributes").form.requestSubmit()`;
    expect(await onceShown(page, send, shown, label)).toBe("Edit");
  },
);

longTest("who saves a form of the console types at once into what is wrong", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip);
  await page.goto(`${url}#/webhooks`);
  await page.getByRole("button", { name: "Add webhook" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("nonsense");
  const save = `document.activeElement.click()`;
  const isWrong = `document.activeElement.getAttribute("aria-invalid")`;
  await dialog.getByRole("button", { name: "Add", exact: true }).focus();
  expect(await onceShown(page, save, "dialog [aria-invalid=true]", isWrong)).toBe("true");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  const steps = ["one", "two"].map((id) => ({ id, type: "send" as const, text: id }));
  const { id } = await shop.playbooks.create({ name: "Greeting", steps });
  await page.goto(`${url}#/agents/playbooks/${id}/edit`);
  await page.locator(".step-toggle", { hasText: "two" }).click();
  await page.locator(".step-body").getByRole("textbox").last().fill("");
  await page.locator(".step-toggle", { hasText: "one" }).click();
  await page.getByRole("button", { name: "Save as version 2" }).focus();
  expect(await onceShown(page, save, ".step-body [aria-invalid=true]", isWrong)).toBe("true");
});

longTest(
  "the banner of an outage says from its first frame when the page tries again",
  async ({ skip }) => {
    const { url, stop, page } = await openInbox(skip);
    await page.goto(url);
    await page.getByText("No open conversations").waitFor();
    // The page has been open for an hour.
    await page.evaluate(`(() => {
    const { now } = Date;
    Date.now = () => now() + 3_600_000;
    window.said = [];
    new MutationObserver(() => {
      const wait = document.querySelector(".banner-wait")?.textContent;
      if (wait) window.said.push(wait);
    }).observe(document, { characterData: true, childList: true, subtree: true });
  })()`);
    stop();
    await page.locator(".banner-wait", { hasText: "Trying again in" }).waitFor();
    const said = await page.evaluate<string[]>("window.said");
    expect(said.filter((each) => !/^Trying again in \d+s$/.test(each))).toEqual([]);
  },
);

test("a page whose scripts and session take long shows its mark meanwhile, and then only itself", async ({
  skip,
}) => {
  const { url, page } = await openInbox(skip);
  const { arrived, release } = await holdAnswers(page, /[/]session$/);
  const mark = page.locator(".starting");
  await page.goto(url);
  await arrived;
  await mark.waitFor();
  await release();
  await page.getByRole("searchbox").waitFor();
  expect(await mark.count()).toBe(0);
});
