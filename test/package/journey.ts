/** What `tidings dev --seed` is made for, from beginning to end, in a real browser. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { accessibilityFaults } from "../web/shop-pages.ts";

interface Addresses {
  readonly console: string;
  readonly inbox: string;
  readonly shop: string;
  readonly token: string;
}

/** Runs `tidings dev` in a new folder. Returns the addresses that it prints. */
export async function startTidings(bin: string, cwd: string, ...options: readonly string[]) {
  await mkdir(cwd);
  const shell = process.platform === "win32";
  const child = spawn(bin, ["dev", "--port", "0", ...options], { cwd, shell });
  const ended = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([eventually(() => expect(output).toContain("Press Ctrl+C")), ended]);
  const shown = (name: string): string => new RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? "";
  const addresses: Addresses = {
    console: shown("Console"),
    inbox: shown("Inbox"),
    shop: shown("Shop"),
    token: shown("Token"),
  };
  /** Presses Ctrl+C. Resolves with the exit status and the signal that ended it. */
  const interrupt = async (): Promise<unknown> => {
    child.kill("SIGINT");
    return ended;
  };
  return { addresses, interrupt };
}

/**
 * A phone texts the shop. The agent answers and hands off. A person takes the conversation, replies,
 * snoozes and closes it. A visitor of the shop gets an answer too. Returns what the browser
 * complained about.
 */
export async function playStory(browser: Browser, addresses: Addresses): Promise<string[]> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  // It only ends what hangs. A wait may take long on a slow machine.
  context.setDefaultTimeout(120_000);
  const faults: string[] = [];
  context.on("weberror", (error) => faults.push(error.error().message));
  context.on("console", (message) => {
    // The browser itself reports that nobody is signed in yet.
    const isExpected = message.text().includes("status of 401");
    if (message.type() === "error" && !isExpected) faults.push(message.text());
  });
  const open = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  const desk = await open(addresses.console);
  await desk.getByLabel("Token").fill(addresses.token);
  await desk.getByLabel("Token").press("Enter");
  const phone = desk.getByRole("region", { name: "Phone +15005550001" });
  const text = async (body: string): Promise<void> => {
    await phone.getByRole("textbox").fill(body);
    await phone.getByRole("textbox").press("Enter");
  };
  await text("When are you open on Saturday?");
  await phone.getByText("on Saturday from 10 to 16").waitFor();
  await text("I'd like to talk to a person, please.");
  await phone.getByText("I pass you on to a colleague").waitFor();

  // One sign-in opens all pages of a server.
  await answer(await open(`${addresses.inbox}#/waiting`));
  await phone.getByText("Kim here. What can I do?").waitFor();

  const shop = await open(addresses.shop);
  await shop.locator(".launcher").click();
  const panel = shop.getByRole("dialog", { name: "Chat with us" });
  await panel.getByRole("textbox").fill("How often should I water my monstera?");
  await panel.getByRole("textbox").press("Enter");
  await panel.getByText("A monstera likes water once a week.").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await shop.emulateMedia({ colorScheme });
    faults.push(...((await accessibilityFaults(shop)) as string[]));
  }
  await context.close();
  return faults;
}

/** Takes the conversation of the phone, replies, snoozes it and closes it. */
async function answer(inbox: Page): Promise<void> {
  await inbox.locator(".row", { hasText: "+1 500 555 0001" }).click();
  await inbox.locator(".message", { hasText: "I'd like to talk to a person" }).waitFor();
  await inbox.getByRole("button", { name: "Take it" }).click();
  await inbox.locator(".conversation-sub", { hasText: "You" }).waitFor();
  const composer = inbox.locator(".composer-area");
  await composer.fill("Kim here. What can I do?");
  await composer.press("Control+Enter");
  await inbox.locator(".message[data-status=delivered]", { hasText: "Kim here." }).waitFor();
  await inbox.getByRole("button", { name: "More actions" }).click();
  await inbox.getByRole("menuitem", { name: /^Snooze/ }).click();
  await inbox.getByRole("option", { name: "Tomorrow morning" }).click();
  await inbox.getByText("Snoozed until").first().waitFor();
  await inbox.getByRole("button", { name: "Close", exact: true }).click();
  const view = new URL(inbox.url());
  await inbox.goto(`${view.origin}${view.pathname}#/closed`);
  const closed = inbox.locator('.row[href^="#/closed"]');
  await closed.filter({ hasText: "+1 500 555 0001" }).waitFor();
  await closed.filter({ hasText: "Priya Raman" }).waitFor();
}
