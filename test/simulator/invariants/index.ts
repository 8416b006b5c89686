import { laws, type Invariant } from "../invariant.ts";
import { actionDoneOnce, approvedBeforeAction, recordedBeforeCall } from "./actions.ts";
import {
  agentAnswersOnce,
  agentAnswersOrHandsOff,
  agentOwnsConversation,
} from "./agent-replies.ts";
import {
  approvedCallIsMade,
  decisionIsReported,
  runEndsOnce,
  waitingRunIsReported,
} from "./agent-runs.ts";
import {
  attemptRecordedBeforeCall,
  calledUnderLease,
  canceledOrSent,
  contentAsRequested,
  sentAtMostOnce,
  sentWithinItsTime,
} from "./carrier-calls.ts";
import { senderChosen } from "./chosen-senders.ts";
import {
  agentsRespectOptOuts,
  optOutConfirmedOnce,
  optOutsRespected,
  yesAnswersQuestions,
} from "./consents.ts";
import { consumedInOrder } from "./consumers.ts";
import { lastMessageTime, mergesComplete, noOrphans, uniqueAddresses } from "./contacts.ts";
import { conversationEventsMatch } from "./conversation-events.ts";
import {
  mergeKeepsActive,
  reopenWindow,
  sequencesGrow,
  snoozeEndsOnTime,
  unreadCounted,
} from "./conversations.ts";
import {
  erasedDataGone,
  erasureToldOnce,
  nothingSentToErased,
  redactedTextGone,
} from "./erasures.ts";
import { handlerChangesAllowed, handoffEventOnce } from "./handoffs.ts";
import { activityMovesForward, inboxMatchesRows } from "./inbox.ts";
import { messageEventsInOrder, timelineComplete, usageCounted } from "./message-events.ts";
import {
  leaseHolderSends,
  messagesInOrder,
  sameTimeInOrder,
  urgentMessagesGoFirst,
  waitingMessagesHaveJobs,
} from "./message-order.ts";
import { policyAllowed, quietHoursRespected } from "./policies.ts";
import { retriesOnSchedule } from "./retries.ts";
import { searchFinds } from "./search.ts";
import { oneTransportAtATime, rateLimited, refusalsAreFinal, routeFollowed } from "./senders.ts";
import { sentimentFromScores } from "./sentiment.ts";
import { receiptsInTimeline, statusFromEvidence } from "./status.ts";
import {
  acknowledgedIsStored,
  inboundStoredOnce,
  oneMessagePerRequest,
  segmentsCounted,
} from "./stored-messages.ts";
import {
  mailboxMatchesMessages,
  visitorLearnsOfRedactions,
  visitorSeesOnce,
} from "./webchat-mailboxes.ts";
import { deliveriesOnSchedule, deliveriesProgress, pausesKept } from "./webhook-deliveries.ts";
import { oneRequestAtATime, requestsDueAndInOrder, requestsSigned } from "./webhook-requests.ts";

/**
 * Checked where they can be observed: by clients, by engine processes, at the end of a run, and by
 * what runs the seeds.
 */
const checkedElsewhere = [
  laws.sameAnswerPerKey,
  laws.redactedAfterwards,
  laws.streamsComplete,
  laws.historyEnds,
  laws.allWorkCompletes,
  laws.noUnexpectedErrors,
  laws.cleanStop,
];

export const invariants: readonly Invariant[] = [
  acknowledgedIsStored,
  oneMessagePerRequest,
  sentAtMostOnce,
  attemptRecordedBeforeCall,
  calledUnderLease,
  contentAsRequested,
  segmentsCounted,
  sentWithinItsTime,
  canceledOrSent,
  oneTransportAtATime,
  routeFollowed,
  refusalsAreFinal,
  retriesOnSchedule,
  rateLimited,
  senderChosen,
  leaseHolderSends,
  messagesInOrder,
  sameTimeInOrder,
  waitingMessagesHaveJobs,
  urgentMessagesGoFirst,
  sequencesGrow,
  unreadCounted,
  snoozeEndsOnTime,
  reopenWindow,
  mergeKeepsActive,
  uniqueAddresses,
  noOrphans,
  lastMessageTime,
  mergesComplete,
  searchFinds,
  erasedDataGone,
  erasureToldOnce,
  redactedTextGone,
  nothingSentToErased,
  optOutsRespected,
  agentsRespectOptOuts,
  optOutConfirmedOnce,
  yesAnswersQuestions,
  inboxMatchesRows,
  activityMovesForward,
  visitorSeesOnce,
  mailboxMatchesMessages,
  visitorLearnsOfRedactions,
  sentimentFromScores,
  policyAllowed,
  quietHoursRespected,
  inboundStoredOnce,
  statusFromEvidence,
  receiptsInTimeline,
  messageEventsInOrder,
  conversationEventsMatch,
  consumedInOrder,
  timelineComplete,
  usageCounted,
  requestsSigned,
  oneRequestAtATime,
  requestsDueAndInOrder,
  deliveriesProgress,
  deliveriesOnSchedule,
  pausesKept,
  agentAnswersOnce,
  agentOwnsConversation,
  agentAnswersOrHandsOff,
  handoffEventOnce,
  handlerChangesAllowed,
  runEndsOnce,
  waitingRunIsReported,
  decisionIsReported,
  approvedCallIsMade,
  recordedBeforeCall,
  actionDoneOnce,
  approvedBeforeAction,
  ...checkedElsewhere.map((name) => ({ name, check: () => ({}) })),
];
