/**
 * Compared with the validator of Twilio's own package: both accept and refuse the same requests.
 */
import { parse, stringify } from "node:querystring";
import fc from "fast-check";
import { getExpectedTwilioSignature, validateRequest } from "twilio/lib/webhooks/webhooks.js";
import { describe, expect, test } from "vitest";
import { isSigned } from "../../../adapters/transport/twilio/callbacks.ts";
import type { CallbackRequest } from "../../../src/ports/transport.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { runs } from "../../support/runs.ts";
import { authToken, broke, fromTwilio, line, overTwilio, sid, twilioCallbacks } from "./world.ts";

const text = fc
  .string({ unit: anyCharacter, maxLength: 40 })
  .filter((value) => value.isWellFormed());
const name = fc.oneof(
  fc.constantFrom("MessageSid", "Body", "From", "To", "a", "A", "__proto__x"),
  text,
);
const fields = fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 12 });
const host = fc.constantFrom(
  "shop.example",
  "SHOP.example",
  "xn--bcher-kva.example",
  "192.0.2.1",
  "[2001:db8::1]",
);
const port = fc.constantFrom("", ":443", ":80", ":8443");
const login = fc.constantFrom("", "me:secret@", "me@");
const piece = fc.oneof(
  fc.constantFrom(
    "'",
    "%27",
    "+",
    "%20",
    "@",
    ":",
    "%3A",
    "&",
    "=",
    "a=1",
    "attempt=att_1",
    "é",
    "%C3%A9",
    "(",
    "~",
    "%zz",
  ),
  fc.stringMatching(/^[\w.-]{0,8}$/),
);
const query = fc
  .array(piece, { maxLength: 8 })
  .map((pieces) => (pieces.length === 0 ? "" : `?${pieces.join("")}`));
const url = fc
  .tuple(
    fc.constantFrom("https://", "http://"),
    login,
    host,
    port,
    fc.constantFrom("/", "/api/v1/x", "/o'c", ""),
    query,
  )
  .map((parts) => parts.join(""));

/**
 * Returns what is signed in place of the URL: the URL as it is, with or without a port, normalized,
 * or something else.
 */
const spelling = (of: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    of,
    of.replace(/:(?:443|80|8443)(?=[/?]|$)/, ""),
    of.replace(/^(https:\/\/[^/?]*?)(?::\d+)?(?=[/?]|$)/, "$1:443"),
    URL.parse(of)?.toString() ?? of,
    of.replaceAll("'", "%27"),
    of.includes("?")
      ? `${of.split("?", 1).join("")}?${stringify(parse(of.slice(of.indexOf("?") + 1)))}`
      : of,
    `${of}x`,
    of.replace("https", "http"),
  );

const form = (pairs: readonly (readonly [string, string])[]): URLSearchParams =>
  new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, value]));

describe("the verification of Twilio's signature", () => {
  test("agrees with Twilio's own library for all signed texts and URLs", () => {
    const numRuns = runs(3_000);
    let passed = 0;
    const requests = fc
      .tuple(url, fields)
      .chain(([called, pairs]) =>
        fc.tuple(fc.constant(called), fc.constant(pairs), spelling(called)),
      );
    fc.assert(
      fc.property(
        requests,
        fc.constantFrom(authToken, "another"),
        ([called, pairs, signedUrl], token) => {
          const signature = getExpectedTwilioSignature(token, signedUrl, Object.fromEntries(pairs));
          const theirs = validateRequest(authToken, signature, called, Object.fromEntries(pairs));
          if (theirs) passed++;
          expect(
            isSigned(authToken, signature, called, form(pairs)),
            "A callback is accepted exactly if Twilio's library accepts it.",
          ).toBe(theirs);
        },
      ),
      { numRuns },
    );
    expect(passed / numRuns).toBeGreaterThan(0.1);
    expect(passed / numRuns).toBeLessThan(0.9);
  });

  test("covers repeated fields as Twilio's library does", () => {
    const values = fc.array(text, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Za-z]{1,6}$/), values), (repeated) => {
        const signature = getExpectedTwilioSignature(authToken, twilioCallbacks, repeated);
        const pairs = Object.entries(repeated).flatMap(([key, all]) =>
          all.map((each) => [key, each] as const),
        );
        expect(
          isSigned(authToken, signature, twilioCallbacks, form(pairs)),
          "A signature of Twilio's library is accepted, also over repeated fields.",
        ).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  test("reads a form of many fields no more often than a form of one", () => {
    // Each look-up of a name searches the whole form, so one for each field would block the
    // process.
    const reads = (count: number): number => {
      let calls = 0;
      const pairs = Array.from({ length: count }, (_, i) => [`${i}`, "x"] as const);
      const counted = new Proxy(form(pairs), {
        get(target, key) {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== "function") return value;
          return (...args: unknown[]): unknown => {
            calls++;
            return Reflect.apply(value, target, args);
          };
        },
      });
      const signature = getExpectedTwilioSignature(
        authToken,
        twilioCallbacks,
        Object.fromEntries(pairs),
      );
      expect(isSigned(authToken, signature, twilioCallbacks, counted)).toBe(true);
      return calls;
    };
    expect(reads(1_000)).toBe(reads(1));
  });

  test("fails when anything in the request was changed", async () => {
    const transport = overTwilio(line(() => broke(false)));
    const honest = fromTwilio(
      [
        ["MessageSid", sid(1)],
        ["MessageStatus", "delivered"],
      ],
      "?attempt=att_01JZ0000000000000000000000",
    );
    const take = (request: CallbackRequest): Promise<unknown> =>
      transport.parseCallback?.(request).catch((error: unknown) => error) ?? Promise.resolve();
    expect(await take(honest)).toMatchObject({ receipts: [{ receipt: { status: "delivered" } }] });
    const { length } = honest.body;
    const changed = fc.oneof(
      fc.tuple(fc.nat(length - 1), fc.integer({ min: 33, max: 126 })).map(([at, byte]) => {
        const body = Uint8Array.from(honest.body);
        body[at] = byte;
        return { ...honest, body };
      }),
      fc
        .nat(honest.url.length - twilioCallbacks.length + 40)
        .map((cut) => ({ ...honest, url: honest.url.slice(0, -1 - (cut % 20)) })),
      fc.string().map((more) => ({ ...honest, url: `${honest.url}&${more}x` })),
      fc.string().map((signature) => ({ ...honest, headers: { "x-twilio-signature": signature } })),
      fc.constant({ ...honest, headers: {} }),
    );
    // Names and values are signed without separators, so a few changes keep the signature valid.
    // Twilio's library accepts these too.
    const passesTheirs = ({ url: called, body, headers }: CallbackRequest): boolean => {
      const query = called.includes("?") ? called.slice(called.indexOf("?")) : "";
      const sent = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(body)));
      return validateRequest(
        authToken,
        headers["x-twilio-signature"] ?? "",
        twilioCallbacks + query,
        sent,
      );
    };
    const numRuns = runs(2_000);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(changed, async (request) => {
        if (passesTheirs(request)) return;
        refused++;
        expect(await take(request)).toMatchObject({ code: "invalid_signature", status: 403 });
      }),
      { numRuns },
    );
    expect(refused / numRuns).toBeGreaterThan(0.75);
  });
});
