/** Messages of every kind, from senders of every kind. */
import fc from "fast-check";
import type { OutboundMessage } from "../../../src/ports/transport.ts";
import { message } from "./world.ts";

const body = fc.oneof(
  fc.constantFrom("", "a&b=c+d e", "Grüße 👋 ' \" %"),
  fc.string({ unit: "grapheme", maxLength: 60 }),
);
const media = fc.array(
  fc
    .record({
      path: fc.string({ unit: "grapheme-ascii", maxLength: 6 }),
      query: fc.constantFrom("", "?y=1&z=ü", "?c[]=[|]"),
    })
    .map(({ path, query }) => ({ url: `https://shop.example/${path}${query}` })),
  { maxLength: 10 },
);
export const messages = (pool: string): fc.Arbitrary<OutboundMessage> =>
  fc
    .record({ from: fc.constantFrom("+15005550006", "12345", "Shop 24", pool), body, media })
    .chain((parts) => {
      const channel =
        parts.media.length > 0 ? fc.constant("mms" as const) : fc.constantFrom("sms", "mms");
      return channel.map((each): OutboundMessage => ({ ...message, ...parts, channel: each }));
    })
    .filter((each) => each.body !== "" || each.media.length > 0);
