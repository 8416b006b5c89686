import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  signToken,
  verifyToken,
  type ProvenToken,
} from "../../src/webchat/sessions/visitor-tokens.ts";

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
