/** What the carrier got. These checks pass if its stand-in does not tell what it received. */
import type { OutboundMessage } from "../../../../src/ports/index.ts";
import type { Fixture, TransportChecks } from "./fixture.ts";

/** Texts that a wrong encoding changes, and one that is longer than a segment. */
const texts = [
  "Grüße & 👋 = 100% +1",
  'Two\nlines, a "quote", a \\ and <b>no &amp; markup</b>?a=%20',
  "  Spaces around  ",
  "One of many lines. ".repeat(50),
];

const media = [
  { url: "https://media.example/a.png?x=1&y=2", content_type: "image/png" },
  { url: "https://media.example/b%20c", content_type: "video/mp4" },
];

/** Sends a message to the carrier. `Fixture.send` compares it with what the carrier received. */
async function carry(fixture: Fixture, changes: Partial<OutboundMessage>): Promise<void> {
  if (fixture.underTest.received !== undefined) await fixture.sendAccepted(changes);
}

export const messageChecks: TransportChecks = {
  "reach the carrier with their sender, recipient and text": {
    needs: ["accepts"],
    async run(fixture) {
      for (const body of texts) await carry(fixture, { body });
    },
  },
  "reach the carrier with their files, in their order": {
    needs: ["accepts"],
    async run(fixture) {
      if (!fixture.transport.capabilities.channels.includes("mms")) return;
      await carry(fixture, { channel: "mms", media });
      await carry(fixture, { channel: "mms", media, body: "" });
      // The files of one message must not go out with the next.
      await carry(fixture, { media: [], body: "Without files" });
    },
  },
};
