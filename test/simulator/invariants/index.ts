import type { Invariant } from "../invariant.ts";
import { approvedFirst, doneOnce, onCallRecord } from "./actions.ts";
import { answeredOnce, heardOut, ownAlone } from "./answers.ts";
import { asAsked, atMostOnce, cancelOrSend, inItsTime, onRecord } from "./calls.ts";
import { confirmedOnce, leftAlone, spared } from "./consents.ts";
import { nothingLeft, nothingSaid, nothingSent } from "./erasures.ts";
import { connectedEvents, countedUsage, wholeTimeline } from "./events.ts";
import { handedOffOnce, rightHands } from "./handlers.ts";
import { holderAlone } from "./holder.ts";
import { noneStuck, onSchedule } from "./deliveries.ts";
import { plainInbox } from "./inbox.ts";
import { rightMailbox, seenOnce } from "./mailboxes.ts";
import { moods } from "./moods.ts";
import { inOrder } from "./order.ts";
import { lastHeard, mergesAnswered, noOrphans, onePerson } from "./people.ts";
import { inTurn, oneAtATime, signed } from "./posts.ts";
import { acknowledged, oneInbound, oneKeyOneMessage } from "./records.ts";
import { reopening } from "./reopening.ts";
import { quiet, ruled } from "./rules.ts";
import { oneLine, paced, routed, sticky } from "./senders.ts";
import { endsOnce } from "./runs.ts";
import { searchFinds } from "./search.ts";
import { joinOfEvidence, receiptsKept } from "./status.ts";
import { sequences, snoozes, unread } from "./threads.ts";
import { conversationEvents } from "./tidings.ts";
import { neverForgotten } from "./waiting.ts";

/** Judged by those who see it: clients, hosts, and the wait for rest. */
const elsewhere = ["one key, one answer", "everything comes to rest", "no surprises", "clean stop"];

/** A later capability adds its invariants here. */
export const invariants: readonly Invariant[] = [
  acknowledged,
  oneKeyOneMessage,
  atMostOnce,
  onRecord,
  asAsked,
  inItsTime,
  cancelOrSend,
  oneLine,
  routed,
  paced,
  sticky,
  holderAlone,
  inOrder,
  neverForgotten,
  sequences,
  unread,
  snoozes,
  reopening,
  onePerson,
  noOrphans,
  lastHeard,
  mergesAnswered,
  searchFinds,
  nothingLeft,
  nothingSaid,
  nothingSent,
  leftAlone,
  spared,
  confirmedOnce,
  plainInbox,
  seenOnce,
  rightMailbox,
  moods,
  ruled,
  quiet,
  oneInbound,
  joinOfEvidence,
  receiptsKept,
  connectedEvents,
  conversationEvents,
  wholeTimeline,
  countedUsage,
  signed,
  oneAtATime,
  inTurn,
  noneStuck,
  onSchedule,
  answeredOnce,
  ownAlone,
  heardOut,
  handedOffOnce,
  rightHands,
  endsOnce,
  onCallRecord,
  doneOnce,
  approvedFirst,
  ...elsewhere.map((name) => ({ name, watch: () => ({}) })),
];
