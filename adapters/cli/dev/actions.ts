/** What the demo's agent can do. A host application passes functions of its own. */
import * as z from "zod";
import { action, type Action } from "../../entry.ts";

/** A day as customers read it. */
const inWords = new Intl.DateTimeFormat("en", {
  weekday: "long",
  month: "long",
  day: "numeric",
  timeZone: "UTC",
});

const bookAppointment = action({
  name: "book_appointment",
  description: "Puts an appointment into the calendar of the shop.",
  input: z.strictObject({ day: z.iso.date(), time: z.enum(["morning", "afternoon"]) }),
  risk: "write",
  idempotent: true,
  execute: ({ day }) => ({ booked: true, day: inWords.format(Date.parse(day)) }),
});

const refundOrder = action({
  name: "refund_order",
  description: "Pays back the price of an order. A person has to approve it.",
  input: z.strictObject({ order: z.string().max(20), amount: z.number().min(0).max(1_000) }),
  risk: "approval",
  idempotent: true,
  execute: ({ order, amount }) => ({ refunded: true, order, amount }),
});

export const demoActions: readonly Action[] = [bookAppointment, refundOrder];
