import { contacts, identitiesOfContact } from "../../../src/contacts/rows.ts";
import { allRows, readRows } from "../rows.ts";
import type { Actor } from "./actor.ts";
import { sendMessage } from "./message-senders.ts";

/** With more browsers, each would have little to do. */
const maxBrowsers = 5;

const newVisitor: Actor = {
  does: "A new visitor opens the webchat.",
  group: "webchat",
  weight: 1,
  async act({ visitors }) {
    if (visitors.present.length < maxBrowsers) await visitors.open();
  },
};

const knownVisitor: Actor = {
  does: "A known contact opens the webchat, perhaps in a second tab.",
  group: "webchat",
  weight: 0.6,
  async act({ visitors, dice, database }) {
    const known = dice.pick(
      allRows(database, contacts).filter(({ merged_into }) => merged_into === null),
    );
    if (known !== undefined && visitors.present.length < maxBrowsers) {
      await visitors.open(known.id);
    }
  },
};

const writer: Actor = {
  does: "A visitor writes something, or STOP.",
  group: "webchat",
  weight: 3,
  async act({ visitors, dice, words }) {
    await dice.pick(visitors.present)?.post(dice.chance(0.1) ? "STOP" : `I ask ${words.next()}`);
  },
};

const disconnecter: Actor = {
  does: "A visitor's connection breaks.",
  group: "webchat",
  weight: 1,
  async act({ visitors, dice }) {
    dice.pick(visitors.present)?.disconnect();
  },
};

const answerer: Actor = {
  does: "A client sends a webchat message to a visitor.",
  group: "webchat",
  weight: 3,
  async act(world) {
    const { dice, database, words } = world;
    const reachable = allRows(database, contacts).filter(
      ({ id }) => readRows(database, identitiesOfContact, [id, "webchat"]).length > 0,
    );
    const to = dice.pick(reachable);
    if (to === undefined) return;
    await sendMessage(world, { to: to.id, channel: "webchat", body: `We answer ${words.next()}` });
  },
};

export const webchatVisitors: readonly Actor[] = [
  newVisitor,
  knownVisitor,
  writer,
  disconnecter,
  answerer,
];
