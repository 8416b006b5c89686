import { messageById, messages } from "../../../src/messages/rows.ts";
import {
  mail,
  mailByNumber,
  mailOfMessage,
  webchatSessions,
  type WebchatSessionRow,
} from "../../../src/webchat/rows.ts";
import { messagesOfPost, type Browser } from "../browser.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, readRows } from "../rows.ts";
import type { World } from "../world.ts";

function sessionOf(
  { database }: World,
  { admission: { session_id } }: Browser,
): WebchatSessionRow | undefined {
  return allRows(database, webchatSessions).find(({ id }) => id === session_id);
}

export const visitorSeesOnce: Invariant = {
  name: "A visitor receives each message once and in order.",
  check(world) {
    const { database, visitors } = world;
    /** How many of a browser's messages are checked. */
    const checked = new Map<Browser, number>();
    /** The existing messages with numbers between two others, which the browser did not receive. */
    const missed = (browser: Browser, after: number, before: number): Violation[] => {
      const session = sessionOf(world, browser);
      if (session === undefined) return [];
      const { account_id, mode, address, id } = session;
      return readRows(database, mailByNumber, [account_id, mode, address]).flatMap(
        ({ number, message_id }) => {
          if (number <= after || number >= before) return [];
          const [message] = readRows(database, messageById, [account_id, mode, message_id]);
          if (message === undefined) return [];
          return [
            {
              about: [id, message_id],
              description: `the visitor of ${id} did not receive ${message_id}, number ${number}`,
            },
          ];
        },
      );
    };
    const beginning = (browser: Browser): number =>
      browser.admission.after ?? sessionOf(world, browser)?.begins_after ?? Infinity;
    return {
      async step() {
        const violations: Violation[] = [];
        for (const browser of visitors.browsers) {
          const { received, admission } = browser;
          const { session_id } = admission;
          for (let i = checked.get(browser) ?? 0; i < received.length; i++) {
            const each = received[i];
            if (each === undefined) continue;
            const { number, message, isRedaction } = each;
            const last = received[i - 1]?.number ?? beginning(browser);
            const about = [session_id, message.id];
            // It may have been redacted while the browser was offline.
            const isRepeated =
              !isRedaction &&
              received.slice(0, i).some((earlier) => earlier.message.id === message.id);
            if (isRepeated) {
              violations.push({
                about,
                description: `the visitor of ${session_id} received ${message.id} twice`,
              });
            }
            if (number <= last && last !== Infinity) {
              violations.push({
                about,
                description: `the visitor of ${session_id} received ${message.id}, number ${number}, after number ${last}`,
              });
            }
            violations.push(...missed(browser, last, number));
          }
          checked.set(browser, received.length);
        }
        return violations;
      },
      async end() {
        return visitors.present.flatMap((browser) => {
          const last = browser.received.at(-1)?.number ?? beginning(browser);
          return missed(browser, last, Infinity);
        });
      },
    };
  },
};

export const mailboxMatchesMessages: Invariant = {
  name: "A visitor's mailbox has every message that was sent to it, and every post makes one message.",
  check(world) {
    const { database, visitors, clients, history } = world;
    return {
      async end() {
        const violations: Violation[] = [];
        for (const { id, channel, direction, status, to } of allRows(database, messages)) {
          if (channel !== "webchat" || direction === "inbound") continue;
          const isInMailbox = readRows(database, mailOfMessage, [id, to]).length > 0;
          const isSent = ["sent", "delivered", "read", "unconfirmed"].includes(status);
          if (isInMailbox !== isSent) {
            violations.push({
              about: [id],
              description: `${id} is ${status}, but ${isInMailbox ? "is" : "is not"} in the mailbox`,
            });
          }
        }
        const entries = Map.groupBy(allRows(database, mail), ({ address }) => address);
        for (const [address, own] of entries) {
          const last = own.at(-1)?.number ?? 0;
          // A message that is redacted moves to the end and leaves a gap.
          const moved = own.filter(({ account_id, mode, message_id }) =>
            readRows(database, messageById, [account_id, mode, message_id]).some(
              ({ body, direction }) => body === null && direction === "outbound",
            ),
          );
          if (own.length <= last && last <= own.length + moved.length) continue;
          violations.push({
            about: [],
            description: `the mailbox of ${address} has ${own.length} entries up to number ${last}, ${moved.length} of them redacted`,
          });
        }
        for (const { received, admission, posted, isGone } of visitors.browsers) {
          const { session_id } = admission;
          for (const { message } of received) {
            const request = clients.requests.find((each) => each.message?.id === message.id);
            const expected = [request?.input.body, null];
            if (request === undefined || expected.includes(message.body)) continue;
            violations.push({
              about: [message.id],
              description: `the visitor of ${session_id} received ${message.id} with the text "${message.body}"`,
            });
          }
          for (const { message_id, client_id, body } of posted) {
            const made = messagesOfPost(database, session_id, client_id);
            const isRedacted = made.some((row) => row.body === null);
            if (message_id === undefined && !isGone && !isRedacted) {
              violations.push({
                about: [session_id],
                description: `the post ${client_id} of ${session_id} was never answered`,
              });
            }
            if (message_id === undefined || history.isErased(admission.contact_id)) continue;
            const isRight =
              made.length === 1 &&
              made.every((row) => row.id === message_id && [body, null].includes(row.body));
            if (!isRight) {
              violations.push({
                about: [message_id],
                description: `the post ${client_id} of ${session_id} made ${made.length} messages, or one that differs from the answer`,
              });
            }
          }
        }
        return violations;
      },
    };
  },
};

export const visitorLearnsOfRedactions: Invariant = {
  name: "A visitor's browser that may show a message learns of its redaction.",
  check({ database, visitors }) {
    return {
      async end() {
        const redacted = new Set<string>(
          allRows(database, messages).flatMap(({ id, body }) => (body === null ? [id] : [])),
        );
        return visitors.present.flatMap(({ admission: { session_id }, received, posted }) => {
          const told = new Set<string>(
            received.flatMap(({ message, isRedaction }) => (isRedaction ? [message.id] : [])),
          );
          const shown = [
            ...received.map(({ message }) => message.id),
            ...posted.flatMap(({ message_id }) => message_id ?? []),
          ];
          return shown
            .filter((id) => redacted.has(id) && !told.has(id))
            .map((id) => ({
              about: [session_id, id],
              description: `the visitor of ${session_id} did not learn of the redaction of ${id}`,
            }));
        });
      },
    };
  },
};
