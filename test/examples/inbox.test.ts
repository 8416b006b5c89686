import { expect, test } from "vitest";
import { start } from "./program.ts";

test("a shop's orders and texts are there together or not at all, and its inbox has whoever replied on top", async () => {
  await using program = start("examples/inbox/main.ts", ["--once"]);
  expect(await program.ended(), program.output() + (await program.complaint())).toBe(0);
  const output = program.output();
  expect(output).toContain('orders a kettle: 201 {"id":1}');
  expect(output).toMatch(/orders a teapot: 409 .*sold out/);
  expect(output).toMatch(/nobody orders a cup: 422 /);
  expect(output.match(/^order \d/gm)).toHaveLength(2);
  expect(output.match(/: text delivered$/gm)).toHaveLength(2);
  const [before = "", after = ""] = output.split("The shop replies: 303");
  expect(before).toContain("+15005550001  2 messages, 1 unread, handled by none: Is it <b>really</b> coming today?");
  expect(before).toMatch(/\+15005550015 {2}2 messages, 1 unread, handled by none: /);
  expect(after).toMatch(/newest first:\n {2}\+15005550001 {2}3 messages, 0 unread, handled by human: It is!/);
});

test("the inbox's page shows what customers write as text, takes replies, and stops at Ctrl-C", async () => {
  await using program = start("examples/inbox/main.ts");
  const [, url = ""] = await program.printed(/The inbox: (http:\S+)/);
  const page = await (await fetch(url)).text();
  expect(page).toContain("Is it &#60;b&#62;really&#60;/b&#62; coming today?");
  const [, action = ""] = /action="(\/inbox\/\S+)"/.exec(page) ?? [];
  const answer = await fetch(new URL(action, url), {
    method: "POST",
    body: new URLSearchParams({ body: "On its way!" }),
  });
  expect(await answer.text()).toContain("<b>us</b> On its way!");
  expect(await program.interrupt()).toBe(0);
});
