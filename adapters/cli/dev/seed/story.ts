/** Five days of a plant shop, up to now. */
import { receivers } from "../demo.ts";
import { createAgent } from "./agent.ts";
import * as people from "./people.ts";
import type { Shop } from "./shop.ts";

/** Something that happens at a time. */
export interface Scene {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly play: (shop: Shop) => Promise<void>;
}

const { maya, jonas, priya, luca, sofia, tomasz, aiko, dele, hannah, noor, wei, chloe } = people;
const { sam, ines, ruth } = people;

const minuteMs = 60_000;

/** Returns the scenes in the order of their times. None is later than `now`. */
export function storyOf(now: number): readonly Scene[] {
  const beginning = now - 5 * 24 * 60 * minuteMs;
  const day = (daysAgo: number, time: string): number => {
    const at = new Date(now);
    const [hours = 0, minutes = 0] = time.split(":").map(Number);
    at.setDate(at.getDate() - daysAgo);
    return Math.max(at.setHours(hours, minutes), beginning + minuteMs);
  };
  const ago = (minutes: number): number => now - minutes * minuteMs;
  const scenes: Scene[] = [
    { at: beginning, play: setUp },
    ...notices(day),
    { at: day(4, "09:40"), play: saturday },
    { at: day(4, "11:05"), play: damagedParcel },
    { at: day(3, "10:15"), play: newParcel },
    { at: day(3, "14:30"), play: repotting },
    { at: day(2, "09:20"), play: troubledPhones },
    { at: day(2, "16:10"), play: officePlants },
    { at: day(1, "10:05"), play: contented },
    { at: day(1, "15:45"), play: sickMonstera },
    { at: ago(190), play: wholesale },
    { at: ago(96), play: chargedTwice },
    { at: ago(64), play: visitorAtPricing },
    { at: ago(41), play: wantsAPerson },
    { at: ago(25), play: refund },
    { at: ago(12), play: visitorWaits },
    { at: ago(6), play: planAhead },
    { at: ago(3), play: latest },
  ];
  return scenes.filter(({ at }) => at < now).toSorted((a, b) => a.at - b.at);
}

async function setUp({ engine, url }: Shop): Promise<void> {
  for (const [id, name] of Object.entries(people.staff)) await engine.operators.save(id, { name });
  for (const each of people.everyone) {
    // `seed` has added the first one.
    if (each !== people.first) await people.addCustomer(engine, each);
  }
  await createAgent(engine);
  await engine.webhooks.create({
    url: `${url}${receivers.working}`,
    events: ["message.received", "conversation.handoff"],
    description: "Order desk",
  });
  await engine.webhooks.create({
    url: `${url}${receivers.failing}`,
    events: ["message.failed"],
    description: "The old till, which is down",
  });
}

/** Notices about orders, spread over the days. */
function notices(day: (daysAgo: number, time: string) => number): Scene[] {
  const times = ["09:05", "10:50", "12:20", "13:40", "15:10", "17:25"];
  return [4, 3, 2, 1].flatMap((daysAgo, row) =>
    times.slice(0, 6 - (row % 2)).map((time, column) => ({
      at: day(daysAgo, time),
      play: async (shop: Shop) => {
        const { regulars } = people;
        const count = 1 + ((row + column * 2) % 3);
        for (let each = 0; each < count; each += 1) {
          const to = regulars[(row * 7 + column * 3 + each) % regulars.length];
          const order = 4_800 + row * 24 + column * 3 + each;
          if (to === undefined) continue;
          const body =
            each === 0 ? `is on its way. Track it at example.com/o/${order}` : "is ready";
          await shop.send({ to: to.phone, body: `Fern & Fable: your order ${order} ${body}.` });
        }
        await shop.wait(6);
      },
    })),
  );
}

async function saturday(shop: Shop): Promise<void> {
  await shop.text(priya, "Hi, are you open on Saturday?");
  await shop.text(priya, "Great, thanks!");
  await shop.label(priya, "hours");
  await shop.close(priya);
}

async function damagedParcel(shop: Shop): Promise<void> {
  await shop.text(maya, "My order 4821 still hasn't arrived. Where is it?");
  await shop.text(maya, "It came just now and looks like this. Really disappointed.", "parcel.jpg");
  await shop.wait(240);
  await shop.reply(maya, "anna", "Oh no, I'm sorry, Maya. A new one goes out today.");
  await shop.note(maya, "anna", "Second damaged parcel with this carrier in a month.");
  await shop.observe(maya, "preference", "Wants parcels to be left with the neighbor.");
  await shop.label(maya, "orders", "damaged");
  await shop.raise(maya, "high");
}

async function newParcel(shop: Shop): Promise<void> {
  await shop.text(maya, "The new one is here and it's perfect. Thank you for sorting it out!");
  await shop.wait(120);
  await shop.reply(maya, "anna", "So glad to hear that! Enjoy it.");
  await shop.close(maya);
}

async function repotting(shop: Shop): Promise<void> {
  await shop.text(hannah, "Can I make an appointment to repot my ficus?");
  await shop.text(hannah, "Next Friday");
  await shop.text(hannah, "afternoon please");
  await shop.label(hannah, "appointments");
  await shop.text(tomasz, "How often should I water my monstera?");
  await shop.text(tomasz, "Great, thanks");
}

async function troubledPhones(shop: Shop): Promise<void> {
  const { unreachable, filtered, wrongNumber, landline, silent, stopper } = people;
  for (const to of [unreachable, filtered, wrongNumber, landline, silent, stopper]) {
    await shop.send({ to: to.phone, body: "Fern & Fable: your order is ready to be picked up." });
  }
  await shop.wait(90);
}

async function officePlants(shop: Shop): Promise<void> {
  await shop.text(luca, "Hello, do you also look after plants in offices? We have about thirty.");
  await shop.wait(600);
  await shop.reply(luca, "kim", "We do, Luca! I'll send you an offer on Thursday. Which floor?");
  await shop.text(luca, "Third floor, south side. It gets hot in summer.");
  await shop.note(luca, "kim", "Ask Omar what he charges for thirty plants, once a week.");
  await shop.label(luca, "sales", "offices");
  await shop.read(luca);
  await shop.snooze(luca, 72);
}

async function contented(shop: Shop): Promise<void> {
  await shop.write(aiko, "omar", "Hello Aiko, did the orchid arrive well?");
  await shop.text(aiko, "It is gorgeous, and my mother loves it! Thank you so much 🌸");
  await shop.wait(300);
  await shop.reply(aiko, "omar", "That makes our day, Aiko. Water it once a week, not more.");
  await shop.observe(aiko, "fact", "Gave the orchid to her mother. Birthday on 21 November.");
  await shop.close(aiko);
  await shop.text(ruth, "Do you deliver to Olympia?");
}

async function sickMonstera(shop: Shop): Promise<void> {
  await shop.text(sofia, "Is this normal? The leaves turn yellow.", "monstera.jpg");
  await shop.wait(900);
  await shop.reply(sofia, "omar", "Thanks for the photo! Too wet it is. How does it look now?");
  await shop.label(sofia, "plant care");
  await shop.snooze(sofia, 20);
}

async function wholesale(shop: Shop): Promise<void> {
  await shop.text(wei, "你好! Do you have a price list for florists?");
  await shop.wait(400);
  await shop.reply(wei, "kim", "Hello! I'll mail it to you today. May I have your company's name?");
  await shop.label(wei, "sales");
  await shop.text(wei, "Pine Street Florists, thank you.");
}

async function chargedTwice(shop: Shop): Promise<void> {
  await shop.text(jonas, "I was charged twice for my subscription this month.");
  await shop.text(jonas, "This is the second time. It's terrible, I am really angry.");
  await shop.label(jonas, "billing");
  await shop.raise(jonas, "urgent");
}

async function visitorAtPricing(shop: Shop): Promise<void> {
  await shop.chat(sam, "Hi! Does delivery cost anything?");
  await shop.chat(sam, "And can you wrap it as a present?");
}

async function wantsAPerson(shop: Shop): Promise<void> {
  await shop.text(dele, "I'd like to talk to a real person about my order, please.");
  await shop.text(noor, "مرحبا، هل لديكم نباتات زيتون؟");
  await shop.assign(noor, "omar");
}

async function refund(shop: Shop): Promise<void> {
  await shop.text(chloe, "When are you open tomorrow?");
  const agent = await shop.agent();
  if (agent === undefined) return;
  await shop.engine.agents.trigger(agent, {
    conversation_id: shop.conversation(chloe),
    action: "refund_order",
    input: { order: "4865", amount: 34.5 },
  });
  await shop.wait(6);
}

async function visitorWaits(shop: Shop): Promise<void> {
  await shop.chat(ines, "Hello, my olive tree arrived with a broken pot.");
  await shop.chat(ines, "Could somebody help me, please?");
}

async function planAhead(shop: Shop): Promise<void> {
  const { regulars } = people;
  const plans = [
    [priya, 20, "Fern & Fable: the monstera that you wanted is back. Shall we keep one for you?"],
    [regulars[2], 26, "Fern & Fable: reminder of your workshop, 'Repotting for beginners'."],
    [regulars[5], 68, "Fern & Fable: your fern could do with fertilizer now."],
  ] as const;
  for (const [to, hours, body] of plans) {
    if (to === undefined) continue;
    await shop.send({ to: to.phone, body, send_at: shop.inHours(hours) });
  }
}

async function latest(shop: Shop): Promise<void> {
  await shop.text(hannah, "See you on Friday! Should I bring the new pot?");
  const [first] = people.regulars;
  if (first !== undefined) await shop.text(first, "Thanks!");
}
