import fc from "fast-check";
import { expect, test } from "vitest";
import {
  eventParser,
  type StreamedEvent,
} from "../../adapters/web/shared/browser/connection/event-parser.ts";
import { runs } from "../support/runs.ts";

function parsed(...chunks: string[]): StreamedEvent[] {
  const events: StreamedEvent[] = [];
  const parse = eventParser((event) => events.push(event));
  for (const chunk of chunks) parse(chunk);
  return events;
}

const breaks = fc.constantFrom("\n", "\r\n", "\r");
const word = fc.string({ unit: fc.constantFrom("a", "é", ":", " ", "{", "👩") });

test("events are the same however the network cuts the stream", () => {
  const streams = fc
    .array(fc.record({ id: word, type: word, data: fc.array(word, { minLength: 1 }) }))
    .chain((events) => fc.tuple(fc.constant(events), breaks, fc.array(fc.nat())));
  fc.assert(
    fc.property(streams, ([events, end, cuts]) => {
      const text = events
        .map(({ id, type, data }) =>
          [
            `: comment`,
            `id: ${id}`,
            `event: ${type}`,
            ...data.map((line) => `data: ${line}`),
            "",
            "",
          ].join(end),
        )
        .join("");
      const places = cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b);
      const chunks = [0, ...places].map((place, index) => text.slice(place, places[index]));
      // A carriage return at the very end may be half of a line break.
      expect(parsed(...chunks, "\n")).toEqual(
        events.map(({ id, type, data }) => ({
          id,
          type: type === "" ? "message" : type,
          data: data.join("\n"),
        })),
      );
    }),
    { numRuns: runs(500) },
  );
});

test("an event without data is none, and its id counts for the next one", () => {
  expect(parsed("id: 7\n\ndata: x\n\n")).toEqual([{ id: "7", type: "message", data: "x" }]);
});
