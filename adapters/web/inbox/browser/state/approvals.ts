/** The actions that wait for a person's decision. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Conversation, Page, Run } from "../../../../../src/index.ts";
import { api, may, Resource } from "../../../shared/browser/index.ts";

/** Increases when a run of the open conversation may have begun or ceased to wait. */
const version = signal(0);
/** Whoever goes through the list does not stay. */
const delayMs = 200;

/** Reads again what waits. */
export const readApprovalsAgain = (): void => void version.value++;

/** The runs of a conversation that wait for a decision, oldest first, if the person may see them. */
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

async function readWaiting(id: string, signal: AbortSignal): Promise<readonly Run[]> {
  const query = { status: "awaiting_approval" };
  const { data } = await api.get<Page<Run>>(`v1/conversations/${id}/runs`, query, { signal });
  return data.toReversed();
}
