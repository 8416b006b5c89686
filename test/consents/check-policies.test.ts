import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decisionOf } from "../../src/consents/check-policies.ts";
import type { NamedVerdict } from "../../src/ports/policy.ts";

const opinion: fc.Arbitrary<NamedVerdict> = fc
  .tuple(
    fc.string(),
    fc.oneof(
      fc.constant({ verdict: "allow" as const }),
      fc.record({ verdict: fc.constant("deny" as const), code: fc.string(), message: fc.string() }),
      fc.record({ verdict: fc.constant("defer" as const), until: fc.nat(), reason: fc.string() }),
    ),
  )
  .map(([policy, verdict]) => ({ policy, ...verdict }));

describe("the decision of all policies", () => {
  it("is a denial if any denies, else the latest deferral, else allowed, with the policy's name", () => {
    fc.assert(
      fc.property(fc.array(opinion, { maxLength: 8 }), (opinions) => {
        const ruled = decisionOf(opinions);
        const denials = opinions.filter(({ verdict }) => verdict === "deny");
        const times = opinions.flatMap((each) => (each.verdict === "defer" ? [each.until] : []));
        if (denials.length > 0) expect(ruled, "The first denial decides.").toBe(denials[0]);
        else if (times.length > 0) {
          expect(opinions, "Without a denial, one of the verdicts decides.").toContain(ruled);
          expect(ruled).toMatchObject({ verdict: "defer", until: Math.max(...times) });
        } else expect(ruled).toMatchObject({ verdict: "allow" });
      }),
    );
  });

  it("does not depend on their order, except for which denial comes first", () => {
    const shuffled = fc
      .array(opinion, { maxLength: 8 })
      .chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const [a, b] = [decisionOf(one), decisionOf(other)];
        expect(a.verdict, "The order of policies does not change the verdict.").toBe(b.verdict);
        if (a.verdict === "defer" && b.verdict === "defer") {
          expect(a.until, "The order of policies does not change how long a message waits.").toBe(
            b.until,
          );
        }
      }),
    );
  });
});
