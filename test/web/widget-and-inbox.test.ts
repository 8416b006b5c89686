/** What a visitor in the chat widget and a person in the inbox see of each other. */
import { expect, test } from "vitest";
import { sharedChromium } from "../support/chromium.ts";
import { anna, widgetSite } from "./widget-site.ts";

const chromium = sharedChromium();

test("a visitor and a person see each other type, and the visitor sees what was read and by whom", async ({
  skip,
}) => {
  const site = await widgetSite(await chromium(skip));
  await site.engine.operators.save(anna.id, { name: anna.name });
  const visitor = await site.openTab();
  const other = await site.openTab();
  await visitor.write("Hello");
  await visitor.panel.getByText("Sent").waitFor();

  // The tabs of a website share a stream.
  await other.launcher.click();
  await other.shows(["> Hello"]);

  const desk = await site.openInbox();
  await desk.getByRole("link", { name: /Hello/ }).click();
  const composer = desk.getByRole("textbox", { name: /Reply to/ });
  await composer.waitFor();
  // Whoever opens a conversation reads it.
  for (const { panel } of [visitor, other]) await panel.getByText("Read").waitFor();

  await visitor.field.fill("How much is");
  const visitorTypes = desk.getByText(/ is typing$/);
  await visitorTypes.waitFor();
  await composer.fill("Hi");
  const personTypes = [visitor, other].map(({ panel }) => panel.getByText("Anna Berg is typing"));
  for (const each of personTypes) await each.waitFor();
  await composer.press("Control+Enter");
  await visitor.shows(["> Hello", "Hi"]);
  for (const each of personTypes) await each.waitFor({ state: "detached" });
  expect(await visitor.panel.locator("header p").textContent()).toBe(anna.name);
  expect(await visitor.panel.locator(".author").allTextContents()).toEqual([anna.name]);

  await visitor.field.press("Enter");
  await desk.getByRole("log").getByText("How much is").waitFor();
  await visitorTypes.waitFor({ state: "detached" });
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});
