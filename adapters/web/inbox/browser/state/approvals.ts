/** The actions that wait for a person's decision. */
import { computed, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Conversation, Event, Run } from "../../../../../src/index.ts";
import { may, readPages, Resource } from "../../../shared/browser/index.ts";

type RunId = Run["id"];
type ConversationId = Conversation["id"];

/** The query for the runs that wait for a decision. */
const isWaiting = { status: "awaiting_approval" };

/** The conversations of the runs that wait, by the ids of the runs. */
const waitingRuns = new Resource(readMarks);
/**
 * What events say while the list is read: the conversation of a run that waits, or null if the run
 * no longer waits.
 */
const changes = new Map<RunId, ConversationId | null>();

const marked = computed(() => new Set(waitingRuns.data?.values()));

/** Whether an action waits for a decision in the conversation, as far as the person may see it. */
export const isApprovalAwaited = (id: ConversationId): boolean => marked.value.has(id);

/** Reads in which conversations an action waits. Then events keep that up to date. */
export function markApprovals(): void {
  if (may("agents:read") && may("conversations:read")) void waitingRuns.reload();
}

async function readMarks(aborted: AbortSignal): Promise<ReadonlyMap<RunId, ConversationId>> {
  changes.clear();
  const { items } = await readPages<Run>("v1/runs", isWaiting, aborted);
  const found = items.flatMap(({ id, conversation_id: of }) =>
    of === null ? [] : ([[id, of]] as const),
  );
  return withChanges(new Map(found));
}

/** Marks the conversation of a run that waits, or removes the mark. */
export function noteApproval({
  type,
  data: { run_id, conversation_id },
}: Event<"agent.run.awaiting_approval" | "agent.run.approval_decided">): void {
  const { data, isLoading } = waitingRuns.state.peek();
  // Without the list, nothing is marked: the person may not see it, or it could not be read.
  if (data === undefined && !isLoading) return;
  changes.set(run_id, type === "agent.run.awaiting_approval" ? conversation_id : null);
  // The list that is being read may be older than the event.
  if (data !== undefined && !isLoading) waitingRuns.set(withChanges(data));
}

function withChanges(
  before: ReadonlyMap<RunId, ConversationId>,
): ReadonlyMap<RunId, ConversationId> {
  const next = new Map(before);
  for (const [run, conversation] of changes) {
    if (conversation === null) next.delete(run);
    else next.set(run, conversation);
  }
  changes.clear();
  return next;
}

/** Increases when a run of the open conversation may have begun or ceased to wait. */
const version = signal(0);
/** Whoever goes through the list does not stay. */
const delayMs = 200;

/** Reads again what waits in the open conversation. */
export const readApprovalsAgain = (): void => void version.value++;

/** The runs in a conversation that wait for a decision, oldest first, if the person may see any. */
export function useWaitingRuns({ id }: Conversation): Resource<readonly Run[]> {
  const waiting = useMemo(() => new Resource((aborted) => readWaiting(id, aborted)), [id]);
  useEffect(() => {
    if (!may("agents:read")) return undefined;
    const timer = setTimeout(() => void waiting.reload(), delayMs);
    return () => clearTimeout(timer);
  }, [waiting, version.value]);
  useEffect(() => () => waiting.stop(), [waiting]);
  return waiting;
}

async function readWaiting(id: string, aborted: AbortSignal): Promise<readonly Run[]> {
  const { items } = await readPages<Run>(`v1/conversations/${id}/runs`, isWaiting, aborted);
  return items.toReversed();
}
