/**
 * One turn of an agent, as a generator of moves. The facts and the results of earlier moves alone
 * decide the next move. The order is fixed: loop guard, hand-off rules, the current playbook, a
 * playbook started by keywords, the model, the fallback text.
 */
import { act, settle, type TurnMoves } from "../../moves.ts";
import { playbookByKeywords } from "../../playbooks/play/trigger-rules.ts";
import type { RunRequest } from "../../runs/types.ts";
import type { NewObservation, TurnFacts } from "../turn-types.ts";
import { askModel } from "./ask-model.ts";
import { limitHandoff, ruleHandoff, silentHandoff } from "./handoff-rules.ts";
import { playPlaybook } from "./play-playbook.ts";
import {
  askModelNext,
  beginPlaybook,
  endFailed,
  endSilently,
  endWithHandoff,
  handOffSilently,
  playOn,
  type Ending,
  type Stage,
} from "./stages.ts";

/**
 * Goes from stage to stage until the turn ends. There are at most three before the end: the model
 * starts a playbook, the playbook ends without a text, and the model is asked for a reply.
 */
export function* takeTurn(facts: TurnFacts): TurnMoves<Ending> {
  const observations: NewObservation[] = [];
  let playbook_id: Ending["playbook_id"] = null;
  let current = facts;
  let next = yield* firstStage(facts);
  while (next.stage !== "end") {
    if (next.stage === "ask") {
      next = yield* askModel(current);
    } else {
      observations.push(...next.observations);
      playbook_id = next.frames[0]?.playbook_id ?? null;
      next = yield* playPlaybook(facts, next);
      current = withoutPlaybooks(facts);
    }
  }
  return { ...next, playbook_id, observations: [...observations, ...next.observations] };
}

/** After a playbook without a text, the contact gets an answer, but not from another playbook. */
function withoutPlaybooks(facts: TurnFacts): TurnFacts {
  return { ...facts, session: { ...facts.session, frames: [] }, playbooks: [] };
}

function* firstStage(facts: TurnFacts): TurnMoves<Stage> {
  const { request, isResumed } = facts;
  if (request?.type === "action") return yield* runAction(facts, request);
  if (isResumed) return yield* resume(facts);
  return request === null ? answerContact(facts) : playRequested(facts, request);
}

function answerContact(facts: TurnFacts): Stage {
  const { isPaused, session, contactText, playbooks } = facts;
  const silent = silentHandoff(facts);
  if (silent !== undefined) return handOffSilently(facts, silent);
  const handoff = limitHandoff(facts) ?? ruleHandoff(facts);
  if (handoff !== undefined) return endWithHandoff(facts, handoff);
  if (isPaused) return askModelNext;
  if (session.frames.length > 0) return playOn(session.frames, contactText);
  const playbook = playbookByKeywords(playbooks, contactText);
  return playbook === undefined ? askModelNext : beginPlaybook(facts, playbook);
}

/** Runs a single action from a trigger. Nothing is sent. */
function* runAction(
  facts: TurnFacts,
  { action, input }: Extract<RunRequest, { readonly type: "action" }>,
): TurnMoves<Ending> {
  const outcome = yield* act(action, input);
  if (outcome.status === "failed") return endFailed(facts, outcome.error);
  return endSilently(facts, outcome.status === "done" ? outcome.output : null);
}

function playRequested(
  facts: TurnFacts,
  { playbook_id, slots }: Extract<RunRequest, { readonly type: "playbook" }>,
): Stage {
  const playbook = facts.findPlaybook(playbook_id);
  return playbook === undefined
    ? endFailed(facts, "The playbook was deleted or disabled.")
    : beginPlaybook(facts, playbook, slots);
}

/**
 * Continues after a decision about an action. A playbook repeats its step, and a model gets the
 * outcome. An approved action runs by the end of the turn, even if the agent no longer lists it, or
 * if its playbook has ended in the meantime.
 */
function* resume(facts: TurnFacts): TurnMoves<Stage> {
  if (facts.isAwaited) return playOn(facts.session.frames, null);
  if (facts.request === null) return askModelNext;
  // No contact waits for a reply to a triggered run.
  const [failed] = yield* settle();
  return failed === undefined
    ? endSilently(facts, null)
    : endFailed(facts, failed.error ?? "failed");
}
