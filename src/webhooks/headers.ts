/** Written by the sender of each request, or of one connection: an endpoint's own would forge, break or contradict them. */
const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const reservedPrefixes = ["webhook-", "proxy-"];

export const headerLimits = { count: 20, name: 100, value: 1_024, total: 8_192 } as const;

/** RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with blanks within: no line break, no control character, nothing that two sides read differently. */
const text = /^[!-~](?:[\t -~]*[!-~])?$/;

export interface HeaderProblem {
  /** Of the header; undefined when it is about all of them. */
  readonly name?: string;
  readonly code:
    "too_many" | "too_long" | "invalid_name" | "invalid_value" | "reserved" | "duplicate";
  readonly message: string;
}

/** What is wrong with the static headers of an endpoint; nothing of them can get in the way of the request's own. */
export function headerProblems(headers: Readonly<Record<string, string>>): HeaderProblem[] {
  const entries = Object.entries(headers);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (entries.length > headerLimits.count) {
    return [{ code: "too_many", message: `Expected at most ${headerLimits.count} headers.` }];
  }
  if (total > headerLimits.total) {
    return [
      {
        code: "too_long",
        message: `Expected names and values of at most ${headerLimits.total} characters together.`,
      },
    ];
  }
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const problem = problemOf(name, value, seen);
    seen.add(name.toLowerCase());
    return problem === undefined ? [] : [{ name, ...problem }];
  });
}

function problemOf(
  name: string,
  value: string,
  seen: ReadonlySet<string>,
): Omit<HeaderProblem, "name"> | undefined {
  const lower = name.toLowerCase();
  if (!token.test(name)) {
    return {
      code: "invalid_name",
      message: "Expected a header's name: letters, digits and dashes.",
    };
  }
  if (name.length > headerLimits.name || value.length > headerLimits.value) {
    return {
      code: "too_long",
      message: `Expected at most ${headerLimits.name} characters of name and ${headerLimits.value} of value.`,
    };
  }
  if (reserved.has(lower) || reservedPrefixes.some((each) => lower.startsWith(each))) {
    return { code: "reserved", message: "This header is the sender's own." };
  }
  if (seen.has(lower)) {
    return {
      code: "duplicate",
      message: "A header's name counts in any case, and is there already.",
    };
  }
  if (!text.test(value)) {
    return {
      code: "invalid_value",
      message: "Expected visible ASCII characters, with spaces only between them.",
    };
  }
  return undefined;
}
