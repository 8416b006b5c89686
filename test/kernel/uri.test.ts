import { Ajv } from "ajv";
import formats from "ajv-formats";
import fc from "fast-check";
import { expect, it } from "vitest";
import { webUrl } from "../../src/kernel/fields.ts";
import { toUri } from "../../src/kernel/uri.ts";

const ajv = new Ajv();
formats.default(ajv);
const isUri = ajv.compile({ type: "string", format: "uri" });

const odd = [
  "a",
  "1",
  "%20",
  "%",
  "{",
  "}",
  "[",
  "]",
  "|",
  "^",
  "`",
  '"',
  "<",
  "\\",
  " ",
  "/",
  "?",
];
const ends = fc.string({ unit: fc.constantFrom(...odd, "#", "@", "é", "Ж"), maxLength: 8 });
const base = fc.webUrl({ withFragments: true, withQueryParameters: true });
const urls = fc
  .oneof(
    fc.tuple(base, ends).map(([url, end]) => url + end),
    ends.map((end) => `https://a${end}.example/b`),
  )
  .filter((url) => URL.canParse(url));

it("a web address is stored as a URI, as the API's document says", () => {
  fc.assert(
    fc.property(urls, (url) => {
      const stored = webUrl.parse(url);
      expect(isUri(stored), stored).toBe(true);
      expect(webUrl.parse(stored), "Reading it again changes nothing.").toBe(stored);
      expect(plain(new URL(stored).href), "It names the same file.").toBe(plain(new URL(url).href));
    }),
  );
});

/** The URL without percent-encoding. */
const plain = (url: string): string =>
  Buffer.from(url.replaceAll(/%25(?![0-9a-f]{2})/gi, "%"))
    .toString("latin1")
    .replaceAll(/%[0-9a-f]{2}/gi, (byte) =>
      String.fromCodePoint(Number.parseInt(byte.slice(1), 16)),
    );

it.each([
  "https://a.example",
  "https://[::1]:8080/a?b=%C3%A9#c",
  "http://user:secret@a.example/~b/(c);d=e,f/../g",
  "javascript:alert(1)",
  "no address",
])("%s stays as it is", (url) => {
  expect(toUri(url)).toBe(url);
});

it.each([
  ["https://a.example/{b}", "https://a.example/%7Bb%7D"],
  ["https:///a.example/b", "https://a.example/b"],
  ["https://a.example/b c?d=|", "https://a.example/b%20c?d=%7C"],
  ["https://a.example/100%", "https://a.example/100%25"],
  ["https://a.example/#a#b", "https://a.example/#a%23b"],
  ["https://a{b}.example/", "https://a%7Bb%7D.example/"],
  ["https://ä.example/é", "https://xn--4ca.example/%C3%A9"],
])("%s becomes %s", (url, uri) => {
  expect(toUri(url)).toBe(uri);
});
