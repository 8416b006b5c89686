import { createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "node:querystring";

/**
 * Whether Twilio signed a form that came to a URL: HMAC-SHA1 over the URL and, sorted, each field's name and value
 * (https://www.twilio.com/docs/usage/security). What Twilio takes for the URL varies: with or without its port, and with or without
 * some of the query percent-encoded; whatever its own library lets pass is let pass.
 */
export function isSigned(
  authToken: string,
  signature: string,
  url: string,
  form: URLSearchParams,
): boolean {
  const fields = [...new Set(form.keys())].toSorted(byUnits).map((name) => {
    const values = [...new Set(form.getAll(name))].toSorted(byUnits);
    return values.map((value) => name + value).join("");
  });
  const signed = Buffer.from(signature);
  return [...spellings(url)].some((spelling) => {
    const expected = createHmac("sha1", authToken)
      .update(spelling)
      .update(fields.join(""))
      .digest("base64");
    return signed.length === expected.length && timingSafeEqual(signed, Buffer.from(expected));
  });
}

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What Twilio may have taken for the URL, at most six. */
function spellings(url: string): Set<string> {
  const normalized = URL.parse(url)?.toString() ?? url;
  const both = (each: string): string[] => [withoutPort(each), withPort(each)];
  return new Set([...both(url), ...both(normalized), ...both(normalized).map(reencoded)]);
}

/** The scheme, who is to log in, the host, its port, and the rest: as they are, since reading a URL would encode some of it. */
const parts =
  /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#]*@)?)(\[[^\]/?#]*\]|[^/?#:]*)((?::[^/?#]*)?)([^]*)$/i;

function withoutPort(url: string): string {
  return url.replace(parts, "$1$2$3$5");
}

function withPort(url: string): string {
  return url.replace(
    parts,
    (_, scheme: string, login: string, host: string, port: string, rest: string) => {
      const standard = scheme.toLowerCase() === "https://" ? ":443" : ":80";
      return scheme + login + host + (port === "" ? standard : port) + rest;
    },
  );
}

/** The query as older versions of Node wrote it. */
function reencoded(url: string): string {
  const start = url.indexOf("?");
  return start === -1 || start === url.length - 1
    ? url
    : `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`;
}
