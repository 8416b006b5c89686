import { createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "node:querystring";

/**
 * Whether Twilio signed a form that was posted to a URL. The signature is an HMAC-SHA1 over the URL
 * and the sorted names and values of the fields (https://www.twilio.com/docs/usage/security).
 * Twilio signs the URL with or without its port, and with or without some of its query
 * percent-encoded. Each form that Twilio's own library accepts is accepted here.
 */
export function isSigned(
  authToken: string,
  signature: string,
  url: string,
  form: URLSearchParams,
): boolean {
  const fields = [...new Set(form.keys())].toSorted(byCodeUnits).map((name) => {
    const values = [...new Set(form.getAll(name))].toSorted(byCodeUnits);
    return values.map((value) => name + value).join("");
  });
  const signed = Buffer.from(signature);
  return [...signedUrls(url)].some((signedUrl) => {
    const expected = createHmac("sha1", authToken)
      .update(signedUrl)
      .update(fields.join(""))
      .digest("base64");
    return signed.length === expected.length && timingSafeEqual(signed, Buffer.from(expected));
  });
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the forms of the URL that Twilio may have signed, at most six. */
function signedUrls(url: string): Set<string> {
  const normalized = URL.parse(url)?.toString() ?? url;
  const both = (each: string): string[] => [withoutPort(each), withPort(each)];
  return new Set([...both(url), ...both(normalized), ...both(normalized).map(reencoded)]);
}

/**
 * Scheme, credentials, host, port, and the rest. A pattern keeps them exactly as written, while
 * `new URL` would encode some characters.
 */
const urlParts =
  /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#]*@)?)(\[[^\]/?#]*\]|[^/?#:]*)((?::[^/?#]*)?)([^]*)$/i;

function withoutPort(url: string): string {
  return url.replace(urlParts, "$1$2$3$5");
}

function withPort(url: string): string {
  return url.replace(
    urlParts,
    (_, scheme: string, credentials: string, host: string, port: string, rest: string) => {
      const standard = scheme.toLowerCase() === "https://" ? ":443" : ":80";
      return scheme + credentials + host + (port === "" ? standard : port) + rest;
    },
  );
}

/** Encodes the query as older versions of Node did. */
function reencoded(url: string): string {
  const start = url.indexOf("?");
  return start === -1 || start === url.length - 1
    ? url
    : `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`;
}
