/** Sample contacts with conversations, so that lists, threads and sentiment have data to show. */
import type { Assignee, Priority } from "../conversations/index.ts";
import type { Channel, Medium } from "../kernel/index.ts";
import type { Media } from "../ports/index.ts";

/** One message of a scenario. */
export interface ScenarioMessage {
  /** How many minutes before the seeding the message was sent. */
  readonly minutesAgo: number;
  readonly from: "contact" | "host";
  readonly channel: Channel;
  readonly body: string;
  readonly media?: readonly Media[];
  /** The sentiment score of the message, -1 to 1. */
  readonly score?: number;
}

export interface Scenario {
  readonly medium: Medium;
  readonly address: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly labels: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly messages: readonly ScenarioMessage[];
  /** The final state of the conversation. */
  readonly conversation: {
    readonly labels: readonly string[];
    readonly priority: Priority;
    /** `queue` means that the conversation waits for a person. */
    readonly handler: "queue" | Assignee | null;
    readonly notes: readonly string[];
    /** Whether the last message is read. */
    readonly isRead: boolean;
    readonly end: "open" | "closed" | { readonly snoozedForMinutes: number };
  };
}

const day = 24 * 60;
const anna = { type: "human", id: "anna" } as const;
const parcel = { url: "https://example.com/media/parcel.jpg", content_type: "image/jpeg" };
const monstera = { url: "https://example.com/media/monstera.jpg", content_type: "image/jpeg" };

export const scenarios: readonly Scenario[] = [
  {
    medium: "text",
    address: "+15005550101",
    name: "Maya Okafor",
    email: "maya.okafor@example.com",
    labels: ["regular"],
    attributes: { city: "Portland", plan: "plus" },
    messages: [
      {
        minutesAgo: 2 * day + 95,
        from: "contact",
        channel: "sms",
        score: -0.35,
        body: "My order 4821 still hasn't arrived. Where is it?",
      },
      {
        minutesAgo: 2 * day + 88,
        from: "host",
        channel: "sms",
        body:
          "Hi Maya, sorry about that. It left the warehouse on Tuesday; let me ask the " +
          "carrier.",
      },
      {
        minutesAgo: day + 40,
        from: "contact",
        channel: "mms",
        score: -0.7,
        body: "It came today and looks like this. Really disappointed.",
        media: [parcel],
      },
      {
        minutesAgo: day + 31,
        from: "host",
        channel: "sms",
        body: "Oh no, I'm sorry. A new one goes out today, and you needn't send this one back.",
      },
      {
        minutesAgo: 52,
        from: "contact",
        channel: "sms",
        score: 0.65,
        body: "The new one is here and it's perfect. Thank you for sorting it out!",
      },
    ],
    conversation: {
      labels: ["orders", "damaged"],
      priority: "high",
      handler: anna,
      notes: [
        "Second damaged parcel with this carrier in a month. Told the warehouse.",
        "Replacement is order 4907.",
      ],
      isRead: false,
      end: "open",
    },
  },
  {
    medium: "text",
    address: "+15005550102",
    name: "Jonas Weber",
    email: null,
    labels: [],
    attributes: {},
    messages: [
      {
        minutesAgo: 41,
        from: "contact",
        channel: "sms",
        score: -0.3,
        body: "I was charged twice for my subscription this month.",
      },
      {
        minutesAgo: 38,
        from: "contact",
        channel: "sms",
        score: -0.5,
        body: "Could somebody please look into this? It's the second time.",
      },
    ],
    conversation: {
      labels: ["billing"],
      priority: "urgent",
      handler: "queue",
      notes: [],
      isRead: false,
      end: "open",
    },
  },
  {
    medium: "text",
    address: "+15005550103",
    name: "Priya Raman",
    email: "priya@example.com",
    labels: ["regular", "vip"],
    attributes: { birthday: "04-12" },
    messages: [
      {
        minutesAgo: 3 * day + 20,
        from: "contact",
        channel: "sms",
        score: 0.1,
        body: "Hi, are you open on Saturday?",
      },
      {
        minutesAgo: 3 * day + 14,
        from: "host",
        channel: "sms",
        body: "Hello Priya! Yes, from 9 to 5.",
      },
      {
        minutesAgo: 3 * day + 12,
        from: "contact",
        channel: "sms",
        score: 0.8,
        body: "Wonderful, thanks for the quick answer! 🎉",
      },
    ],
    conversation: {
      labels: ["hours"],
      priority: "normal",
      handler: anna,
      notes: [],
      isRead: true,
      end: "closed",
    },
  },
  {
    medium: "text",
    address: "+15005550104",
    name: "Luca Moretti",
    email: null,
    labels: [],
    attributes: { company: "Moretti Bikes" },
    messages: [
      {
        minutesAgo: 5 * 60,
        from: "contact",
        channel: "sms",
        score: 0,
        body: "Can we move Thursday's appointment to next week?",
      },
      {
        minutesAgo: 4 * 60 + 50,
        from: "host",
        channel: "sms",
        body: "Of course. I'll get back to you tomorrow with the free times.",
      },
    ],
    conversation: {
      labels: ["appointments"],
      priority: "normal",
      handler: anna,
      notes: ["Ask Ines which afternoons she has next week."],
      isRead: true,
      end: { snoozedForMinutes: 18 * 60 },
    },
  },
  {
    medium: "text",
    address: "+15005550105",
    name: null,
    email: null,
    labels: [],
    attributes: {},
    messages: [
      {
        minutesAgo: 17,
        from: "contact",
        channel: "mms",
        score: 0.2,
        body: "Is this the big one from your window?",
        media: [monstera],
      },
      {
        minutesAgo: 11,
        from: "host",
        channel: "mms",
        body: "That's the one, and this is its little sister.",
        media: [monstera],
      },
    ],
    conversation: {
      labels: [],
      priority: "normal",
      handler: null,
      notes: [],
      isRead: true,
      end: "open",
    },
  },
  {
    medium: "webchat",
    address: "visitor:00000000000000000000000SAM",
    name: "Sam Rivera",
    email: "sam.rivera@example.com",
    labels: [],
    attributes: { page: "/pricing" },
    messages: [
      {
        minutesAgo: 9,
        from: "contact",
        channel: "webchat",
        score: 0.1,
        body: "Does the plus plan include phone support?",
      },
      {
        minutesAgo: 8,
        from: "host",
        channel: "webchat",
        body: "It does, on weekdays from 8 to 18. Shall I set it up for you?",
      },
      {
        minutesAgo: 6,
        from: "contact",
        channel: "webchat",
        score: 0.5,
        body: "Great, yes please.",
      },
    ],
    conversation: {
      labels: ["sales"],
      priority: "normal",
      handler: null,
      notes: [],
      isRead: false,
      end: "open",
    },
  },
];
