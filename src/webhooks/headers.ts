/**
 * Headers that the engine or the HTTP client sets. A custom value could forge or contradict them.
 */
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

/** The name of a header: a token of RFC 9110, 5.6.2. */
export const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * The value of a header: visible ASCII with spaces or tabs inside. Line breaks and control
 * characters could be read differently by the client and the receiver.
 */
export const headerValue = /^[!-~](?:[\t -~]*[!-~])?$/;

interface HeaderProblem {
  /** The name of the header. Undefined when the problem concerns all headers. */
  readonly name?: string;
  readonly code: "too_long" | "invalid_name" | "invalid_value" | "reserved" | "duplicate";
  readonly message: string;
}

/** Returns the problems of a webhook's custom headers. The caller checks the number of headers. */
export function headerProblems(headers: Readonly<Record<string, string>>): HeaderProblem[] {
  const entries = Object.entries(headers);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (total > headerLimits.total) {
    return [
      {
        code: "too_long",
        message: `Expected names and values of at most ${headerLimits.total} characters in total.`,
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
  const { name: maxName, value: maxValue } = headerLimits;
  const lower = name.toLowerCase();
  const problem = (code: HeaderProblem["code"], message: string) => ({ code, message });
  if (!headerName.test(name)) {
    return problem("invalid_name", "Expected a header name of letters, digits and dashes.");
  }
  if (name.length > maxName || value.length > maxValue) {
    const limits = `${maxName} characters in the name and ${maxValue} in the value`;
    return problem("too_long", `Expected at most ${limits}.`);
  }
  if (reserved.has(lower) || reservedPrefixes.some((each) => lower.startsWith(each))) {
    return problem("reserved", "This header is reserved for the engine. Remove it.");
  }
  if (seen.has(lower)) {
    return problem("duplicate", "This header is given twice. Header names are case-insensitive.");
  }
  if (headerValue.test(value)) return undefined;
  const message = "Expected visible ASCII characters, with spaces only between them.";
  return problem("invalid_value", message);
}
