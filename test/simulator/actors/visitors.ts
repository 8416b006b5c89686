import { contacts, identitiesOfContact } from "../../../src/contacts/rows.ts";
import { allOf, peek } from "../rows.ts";
import type { Actor } from "./actor.ts";
import { placeOrder } from "./senders.ts";

/** More would each have little to do. */
const mostBrowsers = 5;

const newcomer: Actor = {
  name: "newcomer",
  part: "webchat",
  weight: 1,
  async act({ visitors }) {
    if (visitors.present.length < mostBrowsers) await visitors.come();
  },
};

/** A second tab, or one who has texted before and comes to the page. */
const regular: Actor = {
  name: "regular",
  part: "webchat",
  weight: 0.6,
  async act({ visitors, dice, ground }) {
    const known = dice.pick(
      allOf(ground, contacts).filter(({ merged_into }) => merged_into === null),
    );
    if (known !== undefined && visitors.present.length < mostBrowsers) {
      await visitors.come(known.id);
    }
  },
};

const talker: Actor = {
  name: "talker",
  part: "webchat",
  weight: 3,
  async act({ visitors, dice, words }) {
    await dice.pick(visitors.present)?.say(dice.chance(0.1) ? "STOP" : `I ask ${words.draw()}`);
  },
};

const cutter: Actor = {
  name: "cutter",
  part: "webchat",
  weight: 1,
  async act({ visitors, dice }) {
    dice.pick(visitors.present)?.cut();
  },
};

const answerer: Actor = {
  name: "answerer",
  part: "webchat",
  weight: 3,
  async act(world) {
    const { dice, ground, words } = world;
    const on = allOf(ground, contacts).filter(
      ({ id }) => peek(ground, identitiesOfContact, [id, "webchat"]).length > 0,
    );
    const to = dice.pick(on);
    if (to === undefined) return;
    await placeOrder(world, { to: to.id, channel: "webchat", body: `We answer ${words.draw()}` });
  },
};

export const visitors: readonly Actor[] = [newcomer, regular, talker, cutter, answerer];
