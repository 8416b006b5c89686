/** The actions that wait for a person's decision. */
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Conversation, Page, Run } from "../../../../../src/index.ts";
import { api, may, Resource } from "../../../shared/browser/index.ts";
import { agents } from "./people.ts";
import { isGone } from "./sweep.ts";

/** Increases when a run of the open conversation may have begun or ceased to wait. */
const version = signal(0);
/** The API lists runs by agent, so only the runs of the first agents are read. */
const maxAgentsRead = 20;
/** Whoever goes through the list does not stay. */
const delayMs = 200;

/** Reads again what waits. */
export const readApprovalsAgain = (): void => void version.value++;

/** The runs of a conversation that wait for a decision, oldest first, if the person may see them. */
export function useWaitingRuns({ id, assignee }: Conversation): Resource<readonly Run[]> {
  const own = assignee?.type === "agent" ? [assignee.id] : [];
  const others = agents.value.map((each) => each.id).slice(0, maxAgentsRead);
  const asked = [...new Set([...own, ...others])];
  const latest = useRef(asked);
  latest.current = asked;
  const waiting = useMemo(
    () => new Resource((aborted) => readWaiting(id, latest.current, aborted)),
    [id],
  );
  useEffect(() => {
    if (!may("agents:read")) return undefined;
    const timer = setTimeout(() => void waiting.reload(), delayMs);
    return () => clearTimeout(timer);
  }, [waiting, asked.join(" "), version.value]);
  useEffect(() => () => waiting.stop(), [waiting]);
  return waiting;
}

async function readWaiting(
  conversation_id: string,
  agentIds: readonly string[],
  aborted: AbortSignal,
): Promise<readonly Run[]> {
  const query = { conversation_id, status: "awaiting_approval" };
  const read = async (id: string): Promise<readonly Run[]> => {
    try {
      const { data } = await api.get<Page<Run>>(`v1/agents/${id}/runs`, query, { signal: aborted });
      return data;
    } catch (error) {
      // The agent was deleted.
      if (isGone(error)) return [];
      throw error;
    }
  };
  const runs = await Promise.all(agentIds.map(read));
  return runs.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
