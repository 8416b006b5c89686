import type * as z from "zod";
import { option, portOption } from "../../src/kernel/index.ts";
import type { HttpClient } from "../../src/ports/index.ts";

/** Options that carriers have in common. */
export const carrierOptions = {
  http: portOption<HttpClient>(
    'an HTTP client, such as httpClient() of "tidings/http-client"',
    "send",
  ),
  callbackUrl: option<string>(
    "an http or https URL without query and fragment",
    (url) => isHttpUrl(url) && !/[?#]/.test(String(url)),
    { isQuoted: true },
  ),
  apiUrl: option<string>("an http or https URL", isHttpUrl, { isQuoted: true }),
} as const;

function isHttpUrl(url: unknown): boolean {
  return typeof url === "string" && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

/** A text that errors do not quote. */
export function secretOption(expected: string): z.ZodCustom<string, string> {
  return option<string>(expected, (given) => typeof given === "string" && given !== "");
}
