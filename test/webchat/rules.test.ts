import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { throttle } from "../../src/webchat/visitor-messages.ts";
import { type ProvenToken, signToken, verifyToken } from "../../src/webchat/visitor-tokens.ts";

it("a session may write exactly 20 messages in any ten seconds", () => {
  const gap = fc.oneof(fc.nat({ max: 900 }), fc.constantFrom(0, 1, 499, 500, 501, 10_000));
  // At an even rate, messages exactly ten seconds ago matter.
  const even = fc.constantFrom(499, 500, 501).map((each) => Array.from({ length: 60 }, () => each));
  const gaps = fc.oneof(fc.array(gap, { maxLength: 120 }), even);
  fc.assert(
    fc.property(gaps, (list) => {
      let now = 1_000_000;
      let recent: readonly number[] = [];
      const admitted: number[] = [];
      for (const gap of list) {
        now += gap;
        const lately = admitted.filter((at) => at > now - 10_000);
        const verdict = throttle(recent, now);
        expect(
          verdict.admitted,
          `A message is admitted unless 20 were in the last ten seconds: ${lately.length}.`,
        ).toBe(lately.length < 20);
        if (verdict.admitted) {
          ({ recent } = verdict);
          expect(recent.length, "At most 20 times are kept.").toBeLessThanOrEqual(20);
          admitted.push(now);
        } else {
          expect(
            throttle(recent, now + verdict.retryAfterMs).admitted,
            "A visitor who waits as long as told is admitted.",
          ).toBe(true);
          expect(
            throttle(recent, now + verdict.retryAfterMs - 1).admitted,
            "A visitor is not told to wait longer than necessary.",
          ).toBe(false);
        }
      }
    }),
  );
});

const secret = createSecretKey(Buffer.alloc(32, 7));
const ulid = fc.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);

it("a token proves its session and expiry, and every changed token is invalid", () => {
  fc.assert(
    fc.property(
      fc.record<ProvenToken>({
        scope: fc.record({
          account_id: ulid.map((id) => `acct_${id}` as const),
          mode: fc.constantFrom("sandbox", "live"),
        }),
        session_id: ulid.map((id) => `wcs_${id}` as const),
        expires_at: fc.nat({ max: 4_102_444_800_000 }),
      }),
      fc.nat(),
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
      (proven, place, other) => {
        const token = signToken(secret, proven);
        expect(verifyToken(secret, token)).toEqual(proven);
        const i = place % token.length;
        const changed = token.slice(0, i) + other + token.slice(i + 1);
        if (changed !== token) {
          expect(
            verifyToken(secret, changed),
            `A token that was changed at place ${i} is refused.`,
          ).toBeUndefined();
        }
        expect(
          verifyToken(createSecretKey(Buffer.alloc(32, 8)), token),
          "A token under another secret is refused.",
        ).toBeUndefined();
        const padded = token.replace(/\.(?=[^.]+\.[^.]+$)/, ".0");
        for (const text of [
          padded,
          `${token}=`,
          `${token} `,
          token.slice(1),
          token.toLowerCase(),
          "",
        ]) {
          expect(
            verifyToken(secret, text),
            `Another spelling of a token is refused: ${text}`,
          ).toBeUndefined();
        }
      },
    ),
  );
});
