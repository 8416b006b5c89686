import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
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
  const [before = "", after = ""] = output.split("Anna replies:");
  expect(before).toContain(
    "'+15005550001'  2 messages, 1 unread, handled by none: 'Is it <b>really</b> coming today?",
  );
  expect(before).toMatch(/'\+15005550015' {2}2 messages, 1 unread, handled by none: /);
  expect(after).toMatch(
    /newest activity first:\n {2}'\+15005550001' {2}3 messages, 0 unread, handled by human: 'It is!/,
  );
  expect(output, "control characters in a customer's text are escaped").not.toContain("\u001b]");
});

longTest(
  "the inbox opens for the signed-in staff only, names them as authors, and stops at Ctrl-C",
  async () => {
    await using program = start("examples/inbox/main.ts");
    const [, url = ""] = await program.printed(/The inbox: (http:\S+)/);
    const base = url.replace(/\/$/, "");
    const signIn = (id: string, site: string): Promise<Response> =>
      fetch(`${base}/sign-in`, {
        method: "POST",
        redirect: "manual",
        headers: { "Sec-Fetch-Site": site },
        body: new URLSearchParams({ id }),
      });
    for (const site of ["cross-site", "same-site"]) {
      expect((await signIn("anna", site)).status).toBe(403);
    }
    expect((await signIn("mallory", "same-origin")).status).toBe(401);
    const signedIn = await signIn("ben", "same-origin");
    const cookie = signedIn.headers.get("set-cookie") ?? "";
    expect(cookie).toContain("HttpOnly; SameSite=Strict");

    const page = await fetch(new URL(signedIn.headers.get("location") ?? "", base));
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const ask = async (path: string, headers: Record<string, string>, body?: object) => {
      const response = await fetch(`${base}/inbox/v1${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          "Content-Type": "application/json",
          "Tidings-Page": "1",
          "Sec-Fetch-Site": "same-origin",
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect((await ask("/conversations", {})).status).toBe(401);
    const own = { Cookie: cookie.split(";")[0] ?? "" };
    const { data } = (await ask("/conversations", own)).body as { data: { id: string }[] };
    const path = `/conversations/${data[0]?.id}/messages`;
    expect(await ask(path, own, { body: "On its way!" })).toMatchObject({
      status: 201,
      body: { body: "On its way!", author: { type: "human", id: "ben" } },
    });
    expect(await program.interrupt()).toBe(0);
  },
);
