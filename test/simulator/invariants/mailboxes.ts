import { messageById, messages } from "../../../src/messages/rows.ts";
import {
  mail,
  mailByNumber,
  mailOfMessage,
  webchatSessions,
  type WebchatSessionRow,
} from "../../../src/webchat/rows.ts";
import type { Browser } from "../browser.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";
import type { World } from "../world.ts";

function sessionOf(
  { ground }: World,
  { admission: { session_id } }: Browser,
): WebchatSessionRow | undefined {
  return allOf(ground, webchatSessions).find(({ id }) => id === session_id);
}

export const seenOnce: Invariant = {
  name: "a visitor sees each message once and in order",
  watch(world) {
    const { ground, visitors } = world;
    const judged = new Map<Browser, number>();
    /** What a browser should have had by now and hasn't: messages that are there, between two numbers. */
    const missed = (browser: Browser, after: number, before: number): Breach[] => {
      const session = sessionOf(world, browser);
      if (session === undefined) return [];
      const { account_id, mode, address, id } = session;
      return peek(ground, mailByNumber, [account_id, mode, address]).flatMap(
        ({ number, message_id }) => {
          if (number <= after || number >= before) return [];
          if (peek(ground, messageById, [account_id, mode, message_id]).length === 0) return [];
          return [
            {
              about: [id, message_id],
              says: `the visitor of ${id} never saw ${message_id}, number ${number}`,
            },
          ];
        },
      );
    };
    const beginning = (browser: Browser): number =>
      browser.admission.after ?? sessionOf(world, browser)?.begins_after ?? Infinity;
    return {
      async step() {
        const breaches: Breach[] = [];
        for (const browser of visitors.browsers) {
          const { had, admission } = browser;
          for (let i = judged.get(browser) ?? 0; i < had.length; i++) {
            const each = had[i];
            if (each === undefined) continue;
            const { number, message } = each;
            const last = had[i - 1]?.number ?? beginning(browser);
            const about = [admission.session_id, message.id];
            const again = had.slice(0, i).some((earlier) => earlier.message.id === message.id);
            if (again) {
              breaches.push({
                about,
                says: `the visitor of ${admission.session_id} saw ${message.id} twice`,
              });
            }
            if (number <= last && last !== Infinity) {
              breaches.push({
                about,
                says: `the visitor of ${admission.session_id} saw ${message.id}, number ${number}, after ${last}`,
              });
            }
            breaches.push(...missed(browser, last, number));
          }
          judged.set(browser, had.length);
        }
        return breaches;
      },
      async end() {
        return visitors.present.flatMap((browser) => {
          const last = browser.had.at(-1)?.number ?? beginning(browser);
          return missed(browser, last, Infinity);
        });
      },
    };
  },
};

export const rightMailbox: Invariant = {
  name: "a visitor gets what was sent, and says what arrives",
  watch(world) {
    const { ground, visitors, clients, registry } = world;
    return {
      async end() {
        const breaches: Breach[] = [];
        for (const { id, channel, direction, status, to } of allOf(ground, messages)) {
          if (channel !== "webchat" || direction === "inbound") continue;
          const isThere = peek(ground, mailOfMessage, [id, to]).length > 0;
          const isSent = ["sent", "delivered", "read", "unconfirmed"].includes(status);
          if (isThere !== isSent) {
            breaches.push({
              about: [id],
              says: `${id} is ${status}, and in the mailbox: ${isThere}`,
            });
          }
        }
        const last = new Map<string, number>();
        for (const { address, number } of allOf(ground, mail)) {
          const before = last.get(address) ?? 0;
          if (number !== before + 1) {
            breaches.push({ about: [], says: `number ${number} follows ${before} for ${address}` });
          }
          last.set(address, number);
        }
        for (const { had, admission, posts, isGone } of visitors.browsers) {
          const whose = admission.session_id;
          for (const { message } of had) {
            const order = clients.orders.find((each) => each.message?.id === message.id);
            if (order === undefined || [order.input.body, null].includes(message.body)) continue;
            breaches.push({
              about: [message.id],
              says: `the visitor of ${whose} saw ${message.id} say "${message.body}"`,
            });
          }
          for (const { taken, client_id, body } of posts) {
            if (taken === undefined && !isGone) {
              breaches.push({ about: [whose], says: `${client_id} of ${whose} was never taken` });
            }
            if (taken === undefined || registry.isErased(admission.contact_id)) continue;
            const made = allOf(ground, messages).filter(({ provider_message_id }) =>
              provider_message_id?.endsWith(`${whose.slice("wcs_".length)}:${client_id}`),
            );
            const right =
              made.length === 1 &&
              made.every((row) => row.id === taken && [body, null].includes(row.body));
            if (!right) {
              breaches.push({
                about: [taken],
                says: `${client_id} of ${whose} made ${made.length} messages`,
              });
            }
          }
        }
        return breaches;
      },
    };
  },
};
