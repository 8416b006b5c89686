/** A page of another origin in a real browser. */
import { expect } from "vitest";
import { chromium } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { listening } from "../support/listening.ts";
import { longTest } from "../support/runs.ts";
import { shop, visitorOf } from "./world.ts";

/**
 * What a shop's page would have: an `EventSource`, a list, and marks, which it sends again when the
 * connection is cut before their answer.
 */
const page = `<!doctype html><title>Shop</title><ol></ol><script>
  const { url, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const post = (path, body) => fetch(url + path, {
    method: "POST",
    headers: { authorization: "Bearer " + token, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const markRead = async (id) => {
    while (!(await post("/marks", { message_id: id, mark: "read" }).catch(() => {}))) {}
  };
  window.opened = 0;
  const source = new EventSource(url + "/stream?token=" + encodeURIComponent(token));
  source.onopen = () => window.opened++;
  source.onmessage = ({ lastEventId, data }) => {
    const { id, body } = JSON.parse(data);
    const item = document.createElement("li");
    item.dataset.number = lastEventId;
    item.textContent = body;
    document.querySelector("ol").append(item);
    void markRead(id);
  };
  window.say = async (body) => (await post("/messages", { body })).status;
</script>`;

longTest(
  "a page in Chromium shows each message once, in order and unchanged, after two disconnects",
  async ({ skip }) => {
    const browser = await chromium(skip);
    const port = await listening((_, response) => {
      response.setHeader("content-type", "text/html").end(page);
    });
    const origin = `http://127.0.0.1:${port}`;

    const there = await shop({ webchat: { origins: [origin] } });
    const visitor = visitorOf(there, await there.engine.webchat.open({ name: "<i>Ann</i>" }));
    const { contact_id } = visitor.session;
    const tab = await browser.newPage();
    const hash = new URLSearchParams({ url: visitor.url, token: visitor.token });
    await tab.goto(`${origin}/#${hash.toString()}`);
    const items = (): Promise<unknown> =>
      tab.evaluate(
        `[...document.querySelectorAll("li")].map((each) => [each.dataset.number ?? "", each.textContent])`,
      );
    const opened = (): Promise<unknown> => tab.evaluate("window.opened");

    const said = [
      "hello",
      "<script>alert('x')</script>",
      "a\nb: c",
      "&lt;b&gt;",
      "\u{1F600} \u2028",
      "last",
    ];
    const send = (body: string | undefined): Promise<unknown> =>
      there.engine.messages.send({ to: contact_id, channel: "webchat", body: body ?? "" });
    const shown = (n: number): Promise<void> =>
      eventually(async () => {
        expect(await items()).toEqual(said.slice(0, n).map((body, i) => [String(i + 1), body]));
      });
    await send(said[0]);
    await send(said[1]);
    await shown(2);
    for (const round of [1, 2]) {
      there.cut();
      await send(said[2 * round]);
      await send(said[2 * round + 1]);
      await shown(2 * round + 2);
      expect(await opened()).toBe(round + 1);
    }
    await eventually(async () => {
      const sent = (await there.engine.messages.list({ direction: "outbound" })).data;
      expect(sent.map(({ status }) => status)).toEqual(said.map(() => "read"));
    });

    const words = '<b>hi</b> & "so" \u0007';
    expect(await tab.evaluate(`window.say(${JSON.stringify(words)})`)).toBe(201);
    const [inbound] = (await there.engine.messages.list({ direction: "inbound" })).data;
    expect(inbound).toMatchObject({ body: words, contact_id });
  },
);
