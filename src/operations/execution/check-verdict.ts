/** What a policy of the host application may return. */
import { isWord, kindOf, maxScheduleAheadMs, quoted } from "../../kernel/index.ts";
import type { Verdict } from "../../ports/index.ts";

/** A policy returned no verdict, or none in time. */
export class UnusableVerdict extends Error {
  override readonly name = "UnusableVerdict";
}

/**
 * Checks that a policy returned a verdict. A policy in JavaScript may return anything.
 * @throws UnusableVerdict
 */
export function checkVerdict(result: unknown, now: number): Verdict {
  const { verdict, code, message, until, reason } = (result ?? {}) as Readonly<
    Record<"verdict" | "code" | "message" | "until" | "reason", unknown>
  >;
  if (verdict === "allow") return { verdict };
  if (
    verdict === "deny" &&
    typeof code === "string" &&
    /^[a-z][a-z0-9_]{0,63}$/.test(code) &&
    isText(message)
  ) {
    return { verdict, code, message };
  }
  if (
    verdict === "defer" &&
    typeof until === "number" &&
    until <= now + maxScheduleAheadMs &&
    isText(reason)
  ) {
    return until > now ? { verdict, until: Math.ceil(until), reason } : { verdict: "allow" };
  }
  throw new UnusableVerdict(expectedOf(verdict, result));
}

/** Says what a policy must return, without quoting what it returned, which may be a message. */
function expectedOf(verdict: unknown, result: unknown): string {
  if (verdict === "deny") {
    return (
      'A verdict "deny" needs a code of up to 64 lower-case letters, digits and underscores, and ' +
      "a message of up to 1,000 characters."
    );
  }
  if (verdict === "defer") {
    return (
      'A verdict "defer" needs until, a time in milliseconds at most 35 days ahead, and a reason ' +
      "of up to 1,000 characters."
    );
  }
  const got = typeof verdict === "string" && isWord(verdict) ? quoted(verdict) : kindOf(result);
  return (
    'Expected { verdict: "allow" }, { verdict: "deny", code, message } or ' +
    `{ verdict: "defer", until, reason }, got ${got}.`
  );
}

/** Whether a text is storable and short enough to show. */
function isText(text: unknown): text is string {
  return (
    typeof text === "string" && text.length <= 1_000 && text.isWellFormed() && !text.includes("\0")
  );
}
