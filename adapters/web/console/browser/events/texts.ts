import type { Texts } from "../../../shared/browser/index.ts";

/** The texts of the page of events. */
export const eventTexts = {
  events: "Events",
  eventsAbout: "A live tail of everything that happens in your account.",
  eventsNone: "No events",
  eventsNoneHint: "Events appear here as they happen.",
  eventsWaiting: { one: "Show {count} new event", other: "Show {count} new events" },
  eventsKept: "The page keeps the latest {count} events.",
  eventNone: "No event selected",
  eventNoneHint: "Choose an event to see its payload.",
  eventDetail: "Event",
  eventPayload: "Payload",
  filterWords: "Contains",
  filterWordsHint: "Id, number, text",
  tailLive: "Live",
  tailPaused: "Paused",
  tailPause: "Pause",
  tailResume: "Resume",
  keyPause: "Pause or resume the tail",
} satisfies Texts;
