import { expect, test } from "vitest";
import { start } from "./program.ts";

test("a shop stores an order and its message atomically, and its inbox lists the latest activity first", async () => {
  await using program = start("examples/inbox/main.ts", ["--once"]);
  expect(await program.ended(), program.output() + (await program.errors())).toBe(0);
  const output = program.output();
  expect(output).toContain('orders a kettle: 201 {"id":1}');
  expect(output).toMatch(/orders a teapot: 409 .*sold out/);
  expect(output).toMatch(/nobody orders a cup: 422 /);
  expect(output.match(/^order \d/gm)).toHaveLength(2);
  expect(output.match(/: message delivered$/gm)).toHaveLength(2);
  const [before = "", after = ""] = output.split("The shop replies: 303");
  expect(before).toContain(
    "'+15005550001'  2 messages, 1 unread, handled by none: 'Is it <b>really</b> coming today?",
  );
  expect(before).toMatch(/'\+15005550015' {2}2 messages, 1 unread, handled by none: /);
  expect(after).toMatch(
    /newest activity first:\n {2}'\+15005550001' {2}3 messages, 0 unread, handled by human: 'It is!/,
  );
  expect(output, "control characters in a customer's text are escaped").not.toContain("\u001b]");
});

test("the inbox's page shows what customers write as text, takes replies, and stops at Ctrl-C", async () => {
  await using program = start("examples/inbox/main.ts");
  const [, url = ""] = await program.printed(/The inbox: (http:\S+)/);
  const shown = await fetch(url);
  expect(shown.headers.get("content-security-policy")).toContain(
    "default-src 'none'; form-action 'self'",
  );
  const page = await shown.text();
  expect(page).toContain("Is it &#60;b&#62;really&#60;/b&#62; coming today?");
  const [, action = ""] = /action="(\/inbox\/\S+)"/.exec(page) ?? [];
  const reply = (body: string, site: string): Promise<Response> =>
    fetch(new URL(action, url), {
      method: "POST",
      headers: { "Sec-Fetch-Site": site },
      body: new URLSearchParams({ body }),
    });
  for (const site of ["cross-site", "same-site"]) {
    expect((await reply("Pay here: evil.example", site)).status).toBe(403);
  }
  const answer = await (await reply("On its way!", "same-origin")).text();
  expect(answer).toContain("<b>us</b> On its way!");
  expect(answer).not.toContain("evil");
  expect(await program.interrupt()).toBe(0);
});
