/** Compared with Telnyx's own package, which uses the wall clock. */
import fc from "fast-check";
import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { expect, test } from "vitest";
import type { CallbackRequest } from "../../../src/ports/transport.ts";
import { broke, fromTelnyx, line, overTelnyx, publicKey } from "./world.ts";

const transport = overTelnyx(line(() => broke(false)));
const theirs = new TelnyxWebhook(publicKey);

const passesOurs = async (request: CallbackRequest): Promise<boolean> => {
  try {
    await transport.parseCallback?.(request);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_signature", status: 403 });
    return false;
  }
};

const passesTheirs = ({ body, headers }: CallbackRequest): Promise<boolean> =>
  theirs.verify(new TextDecoder().decode(body), headers).then(
    () => true,
    () => false,
  );

const minute = 60_000;

/** The changes that can happen to a request. */
const change = fc.constantFrom<(request: CallbackRequest, n: number) => CallbackRequest>(
  (request) => request,
  (request) => request,
  ({ headers, ...rest }, n) => ({
    ...rest,
    headers: { ...headers, "telnyx-timestamp": String(n) },
  }),
  ({ headers, ...rest }, n) => ({
    ...rest,
    headers: {
      ...headers,
      "telnyx-timestamp": `${headers["telnyx-timestamp"]}${"0 x.".charAt(n % 4)}`,
    },
  }),
  ({ headers: { "telnyx-timestamp": _, ...headers }, ...rest }) => ({ ...rest, headers }),
  ({ headers: { "telnyx-signature-ed25519": _, ...headers }, ...rest }) => ({ ...rest, headers }),
  ({ headers, ...rest }, n) => {
    const bytes = Buffer.from(headers["telnyx-signature-ed25519"] ?? "", "base64");
    bytes[n % 64] = (bytes[n % 64] ?? 0) ^ 1;
    return {
      ...rest,
      headers: { ...headers, "telnyx-signature-ed25519": bytes.toString("base64") },
    };
  },
  ({ headers, ...rest }, n) => {
    const signature = headers["telnyx-signature-ed25519"] ?? "";
    return {
      ...rest,
      headers: {
        ...headers,
        "telnyx-signature-ed25519": n % 2 === 0 ? `${signature}=` : signature.slice(2),
      },
    };
  },
  ({ body, ...rest }, n) => ({
    ...rest,
    body: body.map((byte, i) => (i === n % body.length ? (byte === 65 ? 66 : 65) : byte)),
  }),
  ({ body, ...rest }) => ({ ...rest, body: Buffer.concat([body, Buffer.from(" ")]) }),
);

test("the verification agrees with Telnyx's own library for all changes and ages of a request", async () => {
  let passed = 0;
  // Avoids ages near the limit, because the wall clock moves during the test.
  const age = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -4 * minute, max: 4 * minute }) },
    { weight: 1, arbitrary: fc.constantFrom(-6 * minute, 6 * minute, -1e9) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 2 }),
      age,
      change,
      fc.nat(),
      async (json, old, changed, n) => {
        const now = Date.now();
        const request = { ...changed(fromTelnyx(json, now - old), n), received_at: now };
        const isGenuine = await passesTheirs(request);
        if (isGenuine) passed++;
        expect(
          await passesOurs(request),
          "A callback is accepted exactly if Telnyx's library accepts it.",
        ).toBe(isGenuine);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(passed).toBeGreaterThan(200);
  expect(passed).toBeLessThan(1_500);
});

test("a callback of more than 128 KiB is refused, however it is signed", async () => {
  const sized = (bytes: number) => transport.parseCallback?.(fromTelnyx("x".repeat(bytes)));
  await expect(sized(131_072)).resolves.toMatchObject({ receipts: [], inbound: [] });
  await expect(sized(131_073)).rejects.toMatchObject({ code: "body_too_large", status: 413 });
});
