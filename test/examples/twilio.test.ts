import { createHmac } from "node:crypto";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { sid } from "../adapters/transport/world.ts";
import { listening } from "../support/listening.ts";
import { longTest } from "../support/runs.ts";
import { start } from "./program.ts";

const account = {
  TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`,
  TWILIO_AUTH_TOKEN: "secret",
  TWILIO_FROM: "+15005550006",
};
const withoutAccount = { TWILIO_ACCOUNT_SID: undefined };

test("the Twilio example delivers over the sandbox without credentials", async () => {
  await using program = start("examples/twilio/main.ts", [], withoutAccount);
  expect(await program.ended(), await program.errors()).toBe(0);
  expect(program.output()).toMatch(
    /^sandbox mode, API at .*\n(message to \+15005550001: \w+\n)*message to \+15005550001: delivered\n$/,
  );
});

longTest("the Twilio example ends with status 1 if the message does not arrive", async () => {
  await using program = start("examples/twilio/main.ts", ["+15005550005"], withoutAccount);
  expect(await program.ended()).toBe(1);
  expect(program.output()).toMatch(/message to \+15005550005: failed \S.*\n$/);
});

test("the Twilio example sends over the account in the environment, and receives its receipt and a reply", async () => {
  const publicUrl = "https://shop.example";
  const requests: { url: string; authorization: string; form: URLSearchParams }[] = [];
  const port = await listening((request, response) => {
    void text(request).then((body) => {
      const { url = "", headers } = request;
      requests.push({
        url,
        authorization: headers.authorization ?? "",
        form: new URLSearchParams(body),
      });
      response
        .writeHead(201, { "content-type": "application/json" })
        .end(JSON.stringify({ sid: sid(1) }));
    });
  });
  const apiUrl = `http://127.0.0.1:${port}`;

  const environment = { ...account, TWILIO_API_URL: apiUrl, PUBLIC_URL: publicUrl };
  await using program = start("examples/twilio/main.ts", ["+15005551234"], environment);
  const [, url = ""] = await program.printed(/^live mode, API at (\S+)$/m);
  await program.printed(/^message to \+15005551234: sent$/m);
  const [message] = requests;
  expect(requests).toHaveLength(1);
  expect(message?.authorization).toBe(
    `Basic ${Buffer.from(`${account.TWILIO_ACCOUNT_SID}:${account.TWILIO_AUTH_TOKEN}`).toString("base64")}`,
  );
  expect(Object.fromEntries(message?.form ?? [])).toMatchObject({
    From: account.TWILIO_FROM,
    To: "+15005551234",
  });

  /** Signs a callback over the URL that Twilio was given, and posts it to the program. */
  const callBack = async (calledUrl: string, fields: Record<string, string>): Promise<number> => {
    const names = Object.keys(fields).toSorted();
    const signed = calledUrl + names.map((name) => name + fields[name]).join("");
    const signature = createHmac("sha1", account.TWILIO_AUTH_TOKEN).update(signed).digest("base64");
    const headers = {
      "x-twilio-signature": signature,
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams(fields);
    return (await fetch(calledUrl.replace(publicUrl, url), { method: "POST", headers, body }))
      .status;
  };
  const reply = {
    MessageSid: sid(2),
    From: "+15005551234",
    To: account.TWILIO_FROM,
    Body: "On my way",
    NumMedia: "0",
  };
  expect(await callBack(`${publicUrl}/v1/transports/twilio/callbacks`, reply)).toBe(200);
  await program.printed(/^\+15005551234 writes: On my way$/m);
  const receipt = { MessageSid: sid(1), MessageStatus: "delivered" };
  expect(await callBack(message?.form.get("StatusCallback") ?? "", receipt)).toBe(204);
  expect(await program.ended()).toBe(0);
  expect(program.output()).toMatch(/message to \+15005551234: delivered\n$/);
});

longTest("the Twilio example names the missing environment variable in one sentence", async () => {
  await using program = start("examples/twilio/main.ts", [], {
    ...account,
    TWILIO_FROM: undefined,
  });
  expect(await program.ended()).toBe(1);
  expect(await program.errors()).toContain("TWILIO_FROM");
});
